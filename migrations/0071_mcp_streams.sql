-- The streams on which a session's client hears what changes, wherever they are. A message goes to one of them: to the
-- newest, as long as its node lives.
CREATE TABLE mcp_streams (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    id uuid NOT NULL,
    node_id uuid NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT mcp_streams_pkey PRIMARY KEY (tenant_id, session_id, id),
    CONSTRAINT mcp_streams_session_fkey FOREIGN KEY (tenant_id, session_id)
        REFERENCES mcp_sessions (tenant_id, id) ON DELETE CASCADE
);

-- How far a session's client was told: of what is deployed (no subject) up to which generation, of a task that it has
-- subscribed to up to which change. A message is written down here before it is said, so that it is said once.
CREATE TABLE mcp_told (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    subject text NOT NULL,
    mark bigint NOT NULL,
    CONSTRAINT mcp_told_pkey PRIMARY KEY (tenant_id, session_id, subject),
    CONSTRAINT mcp_told_session_fkey FOREIGN KEY (tenant_id, session_id)
        REFERENCES mcp_sessions (tenant_id, id) ON DELETE CASCADE
);

ALTER TABLE mcp_streams ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_streams FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON mcp_streams TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
ALTER TABLE mcp_told ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_told FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON mcp_told TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, DELETE ON mcp_streams TO pleat_app;
GRANT SELECT, INSERT, DELETE, UPDATE (mark) ON mcp_told TO pleat_app;

-- Opens a stream, and says up to which generation its client was told. `seen`: what the client says that it knows, which
-- may be less. Nothing for a session that is gone.
CREATE FUNCTION pleat_open_stream(
    tenant uuid, session uuid, stream uuid, node uuid, living uuid[], generation bigint, seen bigint
) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    PERFORM FROM mcp_sessions s WHERE s.tenant_id = tenant AND s.id = session AND s.expires_at > now() FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A node that is gone has no streams. One that is only out of touch ends before that.
    DELETE FROM mcp_streams s WHERE s.tenant_id = tenant AND s.session_id = session
        AND s.node_id <> ALL (living) AND s.opened_at < now() - interval '1 hour';
    INSERT INTO mcp_streams (tenant_id, session_id, id, node_id) VALUES (tenant, session, stream, node);
    -- What a node of an earlier version has subscribed to is told from the beginning.
    INSERT INTO mcp_told (tenant_id, session_id, subject, mark)
        SELECT tenant, session, wanted, -1 FROM mcp_sessions s, unnest(s.subscriptions) AS wanted
        WHERE s.tenant_id = tenant AND s.id = session ON CONFLICT DO NOTHING;
    RETURN QUERY INSERT INTO mcp_told AS t (tenant_id, session_id, subject, mark)
        VALUES (tenant, session, '', least(generation, seen))
        ON CONFLICT (tenant_id, session_id, subject) DO UPDATE SET mark = least(t.mark, seen) RETURNING t.mark;
END
$$;

-- Whether this stream is to tell its client of this: 1 if so, 0 if it was told before, 2 if it is another stream's to tell.
-- `living`: the nodes that the asking one knows to live. One that has opened a stream a moment ago may be too young for that.
CREATE FUNCTION pleat_tell(
    tenant uuid, session uuid, stream uuid, about text, upto bigint, living uuid[], lease double precision
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    newest uuid;
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    SELECT s.id INTO newest FROM mcp_streams s
        WHERE s.tenant_id = tenant AND s.session_id = session
          AND (s.node_id = ANY (living) OR s.opened_at > now() - make_interval(secs => lease))
        ORDER BY s.opened_at DESC, s.id DESC LIMIT 1;
    IF newest IS DISTINCT FROM stream THEN
        RETURN 2;
    END IF;
    UPDATE mcp_told t SET mark = upto
        WHERE t.tenant_id = tenant AND t.session_id = session AND t.subject = about AND t.mark < upto;
    RETURN CASE WHEN FOUND THEN 1 ELSE 0 END;
END
$$;

REVOKE EXECUTE ON FUNCTION pleat_open_stream, pleat_tell FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_open_stream, pleat_tell TO pleat_app;
