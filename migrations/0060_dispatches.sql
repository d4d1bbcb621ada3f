-- Calls that went to external agents, as the hook bus told of them. Kept for longer than tasks.
CREATE TABLE dispatches (
    tenant_id uuid NOT NULL,
    -- By time.
    id uuid NOT NULL,
    task_id uuid NOT NULL,
    verb text NOT NULL,
    legacy_alias text,
    agent_card_id text,
    agent_url text NOT NULL,
    skill_id text NOT NULL,
    session_id text NOT NULL,
    caller text NOT NULL,
    outcome text NOT NULL,
    error_code text,
    error_message text,
    duration_ms bigint NOT NULL,
    emitted_at timestamptz NOT NULL,
    CONSTRAINT dispatches_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX dispatches_by_age ON dispatches (id);

ALTER TABLE dispatches ENABLE ROW LEVEL SECURITY;
ALTER TABLE dispatches FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON dispatches FOR SELECT TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON dispatches TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT ON dispatches TO pleat_app;
GRANT SELECT, INSERT, DELETE ON dispatches TO pleat_writer;
