//! What the demo tenant begins with: functions, a pipeline of two of them, and a guardrail on one. Each the first time
//! only: what was done to them stays done.

use std::sync::Arc;

use anyhow::Context as _;
use bytes::Bytes;
use pleat_domain::Tenant;
use pleat_engine::{Engine, EngineError, PipelineUpload, Upload};

const FUNCTIONS: &[(&str, &str)] = &[
    ("hello.js", include_str!("../../../../functions-sdk/examples/hello.js")),
    ("weather-lookup.js", include_str!("../../../../functions-sdk/examples/weather-lookup.js")),
    ("countdown.js", include_str!("../../../../functions-sdk/examples/countdown.js")),
];
const PIPELINE: (&str, &str) = ("welcome", include_str!("../../../../functions-sdk/examples/welcome.pipeline.yaml"));
const POLICY: (&str, &str) = ("hello", include_str!("../../../../functions-sdk/examples/hello.policy.json"));

pub async fn deploy_functions(engine: &Engine, tenant: &Arc<Tenant>) -> anyhow::Result<()> {
    let deploys = FUNCTIONS.iter().map(|(file_name, source)| {
        let upload = Upload {
            file_name: (*file_name).to_owned(),
            bytes: Bytes::from_static(source.as_bytes()),
            name: None,
            visibility: None,
            grants: Vec::new(),
        };
        let name = file_name.trim_end_matches(".js");
        async move {
            engine.bootstrap_function(tenant, name, upload).await.with_context(|| format!("deploying {file_name}"))
        }
    });
    futures::future::try_join_all(deploys).await?;
    Ok(())
}

/// On top of the functions, with a key of the tenant that may deploy. The pipeline, which is never deleted, tells whether
/// this was done before.
pub async fn compose(engine: &Engine, tenant: &Tenant, key: &str) -> anyhow::Result<()> {
    let principal = engine.authenticate_platform(Some(key)).await?;
    let known = engine.pipelines(tenant, &principal, None).await?;
    if known.iter().any(|pipeline| pipeline.name.as_str() == PIPELINE.0) {
        return Ok(());
    }
    let upload = PipelineUpload { text: PIPELINE.1.to_owned(), activate: true, visibility: None };
    match engine.deploy_pipeline(tenant, &principal, upload).await {
        Ok(_) => {}
        // Its functions were deleted or changed before there was a pipeline of them.
        Err(EngineError::BadPipeline(_) | EngineError::Exists { .. }) => return Ok(()),
        Err(error) => return Err(error).context("deploying the example of a pipeline"),
    }
    let (skill, policy) = POLICY;
    engine.set_policy(tenant, &principal, Some(skill), policy).await.context("setting the example of a guardrail")
}
