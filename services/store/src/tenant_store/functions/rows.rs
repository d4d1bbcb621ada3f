//! Rows of functions and versions, and what they mean.

use pleat_domain::{Grants, Raw, SkillName, VersionHash};
use sqlx::FromRow;
use sqlx::types::Json;
use time::OffsetDateTime;

use crate::error::StoreError;
use crate::tenant_store::functions::{ActiveFunction, VersionRow};

#[derive(FromRow)]
pub(super) struct FunctionRow {
    name: String,
    version: i32,
    hash: Vec<u8>,
    language: String,
    file_name: String,
    size: i32,
    manifest: Json<Raw>,
    grants: Json<Grants>,
    updated_at: OffsetDateTime,
}

impl FunctionRow {
    pub(super) fn function(self) -> Result<ActiveFunction, StoreError> {
        Ok(ActiveFunction {
            name: SkillName::parse(&self.name).map_err(|_| StoreError::Corrupt { what: "function name" })?,
            version: self.version,
            hash: hash(&self.hash)?,
            language: self.language,
            file_name: self.file_name,
            size: self.size,
            manifest: Box::<str>::from(self.manifest.0).into(),
            grants: self.grants.0,
            updated_at: self.updated_at,
        })
    }
}

#[derive(FromRow)]
pub(super) struct HistoryRow {
    version: i32,
    active: bool,
    hash: Vec<u8>,
    language: String,
    file_name: String,
    size: i32,
    grants: Json<Grants>,
    created_at: OffsetDateTime,
    created_by: String,
}

impl HistoryRow {
    pub(super) fn version(self) -> Result<VersionRow, StoreError> {
        Ok(VersionRow {
            version: self.version,
            active: self.active,
            hash: hash(&self.hash)?,
            language: self.language,
            file_name: self.file_name,
            size: self.size,
            grants: self.grants.0,
            created_at: self.created_at,
            created_by: self.created_by,
        })
    }
}

pub(in crate::tenant_store) fn hash(bytes: &[u8]) -> Result<VersionHash, StoreError> {
    let bytes = <[u8; 32]>::try_from(bytes).map_err(|_| StoreError::Corrupt { what: "version hash" })?;
    Ok(VersionHash::from_bytes(bytes))
}
