//! Row-level security: the second lock, tried with the first one open.

use pleat_domain::{Grants, KeyLimits, Scope, Scopes, SettingName, SkillName, Task, TenantId, Usage, VersionHash};
use pleat_store::{Change, DispatchRow, FindingRow, NewIssuer, NewVersion, Once, Room, UsageRow, Written};
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::platform::key;
use crate::pushes::deliver;
use crate::support::{Fixture, count, plain, raw, running, step, task};

const TENANT_TABLES: [&str; 25] = [
    "api_keys",
    "jwt_issuers",
    "functions",
    "function_versions",
    "sources",
    "tasks",
    "task_events",
    "task_logs",
    "task_aliases",
    "task_keys",
    "task_cancels",
    "secrets",
    "settings",
    "key_values",
    "key_value_usage",
    "usage",
    "push_configs",
    "push_deliveries",
    "guard_findings",
    "dispatches",
    "mcp_sessions",
    "mcp_calls",
    "mcp_streams",
    "mcp_told",
    "client_replies",
];

async fn two_tenants(fixture: &Fixture) -> [pleat_domain::Tenant; 2] {
    let mut tenants = Vec::new();
    for slug in ["alpha", "beta"] {
        let (tenant, handle) = fixture.tenant(slug).await;
        handle.insert_key(key(slug)).await.unwrap();
        handle.insert_issuer(issuer(slug)).await.unwrap();
        let new = NewVersion {
            name: SkillName::parse("echo").unwrap(),
            hash: VersionHash::of("js", b"x"),
            language: "js".into(),
            file_name: "echo.js".into(),
            size: 1,
            compiled_bytes: 0,
            manifest: raw("{}"),
            grants: Grants::default(),
            created_by: "key:x".into(),
        };
        handle.deploy(new, b"x", Room::default()).await.unwrap();
        let name = SettingName::parse("NAME").unwrap();
        handle.set_secret(&name, b"sealed", 6, "key:x").await.unwrap();
        handle.set_setting(&name, "plain", "key:x").await.unwrap();
        handle.set_value("key", b"value", None).await.unwrap();
        let mut task = running();
        task.alias = Some("mine".into());
        let mut commit = step(&tenant, &task, Change::Insert);
        commit.logs.push(pleat_domain::LogLine {
            at: task.created_at,
            level: pleat_domain::LogLevel::Info,
            message: "hello".into(),
        });
        commit.once = Some(Once { key: "once".into(), fingerprint: [7; 32] });
        assert_eq!(fixture.store.writer().commit(commit).await.unwrap(), Written::Done);
        let (skill, day) = (SkillName::parse("echo").unwrap(), task.created_at.date());
        let usage = Usage { calls: 1, ..Usage::default() };
        fixture.store.add_usage(vec![UsageRow { tenant: tenant.id, day, skill, usage }]).await.unwrap();
        fixture.store.add_findings(&[finding(tenant.id)]).await.unwrap();
        fixture.store.add_dispatches(&[dispatch(tenant.id, &task)]).await.unwrap();
        handle.request_cancel(task.id).await.unwrap();
        deliver(&fixture.store, &handle, task.id).await;
        let session = crate::sessions::open(&handle).await;
        handle.begin_call(session, "1", task.id).await.unwrap();
        handle.open_stream(session, Uuid::now_v7(), 1, None).await.unwrap();
        handle.keep_replies(task.id, 1, &[("asked".to_owned(), raw("{}"))]).await.unwrap();
        tenants.push(tenant);
    }
    tenants.try_into().unwrap()
}

fn finding(tenant: TenantId) -> FindingRow {
    let word = || "x".to_owned();
    FindingRow {
        id: Uuid::now_v7(),
        tenant,
        task: None,
        skill: word(),
        caller: word(),
        door: word(),
        side: word(),
        check: word(),
        rule: word(),
        action: word(),
        severity: word(),
        mode: word(),
        pointer: word(),
        hash: word(),
        placeholder: None,
    }
}

fn dispatch(tenant: TenantId, task: &Task) -> DispatchRow {
    let word = || "x".to_owned();
    DispatchRow {
        id: Uuid::now_v7(),
        tenant,
        task: task.id,
        verb: word(),
        legacy_alias: None,
        agent_card_id: None,
        agent_url: word(),
        skill_id: word(),
        session_id: word(),
        caller: word(),
        outcome: word(),
        error_code: None,
        error_message: None,
        duration_ms: 1,
        emitted_at: task.created_at,
    }
}

fn issuer(id: &str) -> NewIssuer {
    NewIssuer {
        id: id.to_owned(),
        issuer: "https://id.example".to_owned(),
        audiences: Vec::new(),
        jwks: None,
        jwks_url: Some("https://id.example/jwks".to_owned()),
        scopes: Scopes::of([Scope::Invoke]),
        limits: KeyLimits::default(),
        created_by: "key:x".to_owned(),
    }
}

async fn as_role(fixture: &Fixture, role: &str) -> PgConnection {
    let mut connection = fixture.outside().await;
    let statement = format!("SET ROLE {role}");
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
    connection
}

#[tokio::test]
async fn without_a_tenant_nothing_is_visible() {
    let fixture = Fixture::new().await;
    two_tenants(&fixture).await;
    let mut app = as_role(&fixture, "pleat_app").await;
    for table in TENANT_TABLES {
        assert_eq!(fixture.count(table).await, 2, "{table} has rows to hide");
        assert_eq!(count(&mut app, table).await, 0, "{table}");
    }
    sqlx::raw_sql("SELECT set_config('app.tenant', '', false)").execute(&mut app).await.unwrap();
    for table in TENANT_TABLES {
        assert_eq!(count(&mut app, table).await, 0, "{table} with an empty tenant");
    }
}

#[tokio::test]
async fn with_a_tenant_only_its_rows_are_visible_and_writable() {
    let fixture = Fixture::new().await;
    let [alpha, beta] = two_tenants(&fixture).await;
    let mut app = as_role(&fixture, "pleat_app").await;
    let name = |tenant: &pleat_domain::Tenant| tenant.id.as_uuid().to_string();
    sqlx::query("SELECT set_config('app.tenant', $1, false)").bind(name(&alpha)).execute(&mut app).await.unwrap();
    for table in TENANT_TABLES {
        let others = format!("{table} WHERE tenant_id = '{}'", name(&beta));
        assert_eq!(count(&mut app, table).await, 1, "{table}");
        assert_eq!(count(&mut app, &others).await, 0, "{table} of the other tenant");
    }
    let foreign = format!("INSERT INTO functions (tenant_id, name, active_version) VALUES ('{}', 'x', 1)", name(&beta));
    let refused = sqlx::raw_sql(AssertSqlSafe(foreign)).execute(&mut app).await.unwrap_err();
    assert!(refused.to_string().contains("row-level security"), "{refused}");
    let touched = sqlx::raw_sql("UPDATE tasks SET state = 6").execute(&mut app).await.unwrap();
    assert_eq!(touched.rows_affected(), 1);
}

#[tokio::test]
async fn every_table_with_a_tenant_has_forced_row_security() {
    let fixture = Fixture::new().await;
    let open = "pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
           AND NOT (c.relrowsecurity AND c.relforcerowsecurity)";
    assert_eq!(fixture.count(open).await, 0);
    let bypassing = "pg_roles WHERE rolname LIKE 'pleat\\_%' AND (rolbypassrls OR rolsuper OR rolcanlogin)";
    assert_eq!(fixture.count(bypassing).await, 0);
}

#[tokio::test]
async fn the_writers_cannot_read_keys_or_functions_and_nobody_reads_a_partition() {
    let fixture = Fixture::new().await;
    two_tenants(&fixture).await;
    let partition: String = sqlx::query_scalar("SELECT tableoid::regclass::text FROM tasks LIMIT 1")
        .fetch_one(&mut fixture.outside().await)
        .await
        .unwrap();
    for (role, table) in [
        ("pleat_writer", "api_keys"),
        ("pleat_writer", "functions"),
        ("pleat_writer", "tenants"),
        ("pleat_writer", "secrets"),
        ("pleat_writer", "settings"),
        ("pleat_writer", "(SELECT value FROM key_values) AS v"),
        ("pleat_writer", "master_key_check"),
        ("pleat_app", "nodes"),
        ("pleat_app", "caller_usage"),
        ("pleat_app", partition.as_str()),
        ("pleat_writer", partition.as_str()),
    ] {
        let mut connection = as_role(&fixture, role).await;
        let query = format!("SELECT 1 FROM {table}");
        let refused = sqlx::raw_sql(AssertSqlSafe(query)).execute(&mut connection).await.unwrap_err();
        assert!(refused.to_string().contains("permission denied"), "{role} on {table}: {refused}");
    }
}

#[tokio::test]
async fn a_pooled_connection_does_not_remember_a_tenant() {
    let fixture = Fixture::with(|config| config.readers = 1).await;
    let [alpha, beta] = two_tenants(&fixture).await;
    let mine = task();
    fixture.store.writer().commit(plain(&alpha, &mine, Change::Insert)).await.unwrap();
    assert!(fixture.store.tenant(alpha.id).task(mine.id, None).await.unwrap().is_some());
    assert_eq!(fixture.store.tenant(alpha.id).list_keys().await.unwrap().len(), 1);
    let other = fixture.store.tenant(beta.id);
    assert!(other.task(mine.id, None).await.unwrap().is_none());
    assert!(other.events_after(mine.id, 0, 10).await.unwrap().is_empty());
    assert!(!other.cancel_idle(mine.id).await.unwrap());
    assert!(!other.revoke_key("alpha", true).await.unwrap());
    assert!(!other.delete_issuer("alpha").await.unwrap());
    assert!(!other.replace_keys("alpha", &raw("{}")).await.unwrap());
    assert_eq!(other.list_issuers().await.unwrap().len(), 1);
}
