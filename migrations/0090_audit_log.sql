-- Audit log: administrative changes, and attempts that were denied. Rows are appended and never changed; the maintenance
-- job deletes them by age.
CREATE TABLE audit_log (
    id uuid CONSTRAINT audit_log_pkey PRIMARY KEY,
    -- The database's clock, so that all nodes write in one order.
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- NULL: a row of the platform. No foreign key: rows outlive their tenant.
    tenant_id uuid,
    tenant text,
    actor_kind text NOT NULL,
    actor text NOT NULL,
    actor_label text NOT NULL,
    action text NOT NULL,
    target_kind text NOT NULL,
    target text NOT NULL,
    -- JSON: old and new value where they are harmless, never the value of a secret.
    details json,
    outcome text NOT NULL CONSTRAINT audit_log_outcome CHECK (outcome IN ('done', 'denied')),
    client_address text,
    request_id text,
    user_agent text
);
CREATE INDEX audit_log_of_tenant ON audit_log (tenant_id, at, id);
CREATE INDEX audit_log_by_age ON audit_log (at, id);

ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON audit_log FOR SELECT TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY append ON audit_log FOR INSERT TO pleat_app
    WITH CHECK (tenant_id IS NULL OR tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON audit_log TO pleat_writer USING (true) WITH CHECK (true);

-- Nobody may update. The writer role reads for operators, and deletes by age.
GRANT SELECT, INSERT ON audit_log TO pleat_app;
GRANT SELECT, DELETE ON audit_log TO pleat_writer;
