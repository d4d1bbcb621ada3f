-- The append-only event log of each task. The sequence is given by the task's owner; the key is what stops a node that
-- lost its lease from writing beside the one that took over.
CREATE TABLE task_events (
    tenant_id uuid NOT NULL,
    task_id uuid NOT NULL,
    seq integer NOT NULL,
    at timestamptz NOT NULL,
    body json NOT NULL,
    CONSTRAINT task_events_pkey PRIMARY KEY (task_id, seq)
) PARTITION BY RANGE (task_id);

ALTER TABLE task_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_events FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON task_events TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON task_events TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON task_events TO pleat_app, pleat_writer;
