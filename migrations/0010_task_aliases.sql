-- Ids that clients chose. A table of its own, because a unique index on a partitioned table must hold the partition key.
CREATE TABLE task_aliases (
    tenant_id uuid NOT NULL,
    caller text NOT NULL,
    alias text NOT NULL,
    task_id uuid NOT NULL,
    CONSTRAINT task_aliases_pkey PRIMARY KEY (tenant_id, caller, alias)
);
CREATE INDEX task_aliases_by_age ON task_aliases (task_id);

ALTER TABLE task_aliases ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_aliases FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON task_aliases TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON task_aliases TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT ON task_aliases TO pleat_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON task_aliases TO pleat_writer;
