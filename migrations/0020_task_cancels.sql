-- Tasks that somebody has asked to stop, at a node that does not run them. The one that does looks here when it is
-- woken; whoever takes a lost task over looks here first.
CREATE TABLE task_cancels (
    tenant_id uuid NOT NULL,
    task_id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT task_cancels_pkey PRIMARY KEY (task_id)
);

ALTER TABLE task_cancels ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_cancels FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON task_cancels TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON task_cancels TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON task_cancels TO pleat_app;
GRANT SELECT, DELETE ON task_cancels TO pleat_writer;
