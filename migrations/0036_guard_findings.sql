-- What guardrails found: never the value, but a keyed hash of it. Kept for longer than tasks.
CREATE TABLE guard_findings (
    tenant_id uuid NOT NULL,
    -- By time.
    id uuid NOT NULL,
    -- Nothing where the call was refused before it became a task.
    task_id uuid,
    skill text NOT NULL,
    caller text NOT NULL,
    door text NOT NULL,
    -- input or output.
    side text NOT NULL,
    kind text NOT NULL,
    rule text NOT NULL,
    action text NOT NULL,
    severity text NOT NULL,
    mode text NOT NULL,
    pointer text NOT NULL,
    hash text NOT NULL,
    placeholder text,
    CONSTRAINT guard_findings_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX guard_findings_by_age ON guard_findings (id);

ALTER TABLE guard_findings ENABLE ROW LEVEL SECURITY;
ALTER TABLE guard_findings FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON guard_findings FOR SELECT TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON guard_findings TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT ON guard_findings TO pleat_app;
GRANT SELECT, INSERT, DELETE ON guard_findings TO pleat_writer;
