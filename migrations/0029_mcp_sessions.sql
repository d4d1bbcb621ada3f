-- Sessions of the Model Context Protocol, in the versions that have them. A session belongs to one caller at one tenant's
-- door; no other caller's request finds it, at whichever node it arrives.
CREATE TABLE mcp_sessions (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    id uuid NOT NULL,
    -- The operators' door has sessions of its own.
    control boolean NOT NULL,
    caller text NOT NULL,
    version text NOT NULL,
    -- What the client said that it can do.
    capabilities json NOT NULL,
    initialized boolean NOT NULL DEFAULT false,
    log_level smallint,
    subscriptions text[] NOT NULL DEFAULT '{}',
    expires_at timestamptz NOT NULL,
    CONSTRAINT mcp_sessions_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX mcp_sessions_by_caller ON mcp_sessions (tenant_id, caller, expires_at);
CREATE INDEX mcp_sessions_expiring ON mcp_sessions (expires_at);

ALTER TABLE mcp_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON mcp_sessions TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
-- Maintenance takes away what has expired, and sees nothing else.
CREATE POLICY expired ON mcp_sessions TO pleat_writer USING (expires_at <= now());

GRANT SELECT, INSERT, DELETE, UPDATE (initialized, log_level, subscriptions, expires_at) ON mcp_sessions TO pleat_app;
GRANT SELECT (tenant_id, id, expires_at), DELETE ON mcp_sessions TO pleat_writer;

-- Opens a session. Where a caller has as many as it may have, the one that would end first makes room; `false`: the
-- tenant has as many as it may have.
CREATE FUNCTION pleat_open_session(
    tenant uuid, wanted uuid, at_control boolean, owner text, spoken text, able json, ends timestamptz,
    most_caller integer, most_tenant integer
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    held integer;
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    -- What somebody else is taking away at the same moment is left to them: two of these must not wait for each other.
    DELETE FROM mcp_sessions s WHERE s.tenant_id = tenant AND s.id IN (
        SELECT c.id FROM mcp_sessions c WHERE c.tenant_id = tenant AND c.caller = owner AND c.expires_at <= now()
        LIMIT 100 FOR UPDATE SKIP LOCKED);
    SELECT count(*) INTO held FROM mcp_sessions s WHERE s.tenant_id = tenant AND s.caller = owner;
    IF held >= most_caller THEN
        DELETE FROM mcp_sessions s WHERE s.tenant_id = tenant AND s.id IN (
            SELECT c.id FROM mcp_sessions c WHERE c.tenant_id = tenant AND c.caller = owner
            ORDER BY c.expires_at LIMIT held - most_caller + 1 FOR UPDATE SKIP LOCKED);
    ELSE
        SELECT count(*) INTO held FROM (
            SELECT FROM mcp_sessions s WHERE s.tenant_id = tenant AND s.expires_at > now() LIMIT most_tenant) AS live;
        IF held >= most_tenant THEN
            RETURN false;
        END IF;
    END IF;
    INSERT INTO mcp_sessions (tenant_id, id, control, caller, version, capabilities, expires_at)
    VALUES (tenant, wanted, at_control, owner, spoken, able, ends);
    RETURN true;
END
$$;

CREATE FUNCTION pleat_session(tenant uuid, wanted uuid) RETURNS SETOF mcp_sessions LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY SELECT s.* FROM mcp_sessions s WHERE s.tenant_id = tenant AND s.id = wanted AND s.expires_at > now();
END
$$;

REVOKE EXECUTE ON FUNCTION pleat_open_session, pleat_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_open_session, pleat_session TO pleat_app;
