-- What a caller's client has answered so far to the requests of a task that waits for several.
CREATE TABLE client_replies (
    tenant_id uuid NOT NULL,
    task_id uuid NOT NULL,
    turn smallint NOT NULL,
    key text NOT NULL,
    body json NOT NULL,
    CONSTRAINT client_replies_pkey PRIMARY KEY (tenant_id, task_id, turn, key)
);
CREATE INDEX client_replies_by_age ON client_replies (task_id);

ALTER TABLE client_replies ENABLE ROW LEVEL SECURITY;
ALTER TABLE client_replies FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON client_replies TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON client_replies TO pleat_writer USING (true);

GRANT SELECT, INSERT, DELETE ON client_replies TO pleat_app;
GRANT SELECT, DELETE ON client_replies TO pleat_writer;
