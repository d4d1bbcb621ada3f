-- Which task a request of a session became, for as long as it runs: a cancel names the request, and may arrive anywhere.
CREATE TABLE mcp_calls (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    -- As JSON, since 1 and "1" are two requests.
    request_id text NOT NULL,
    task_id uuid NOT NULL,
    CONSTRAINT mcp_calls_pkey PRIMARY KEY (tenant_id, session_id, request_id),
    CONSTRAINT mcp_calls_session_fkey FOREIGN KEY (tenant_id, session_id)
        REFERENCES mcp_sessions (tenant_id, id) ON DELETE CASCADE
);

ALTER TABLE mcp_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_calls FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON mcp_calls TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, DELETE, UPDATE (task_id) ON mcp_calls TO pleat_app;
