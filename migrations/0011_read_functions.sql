-- The hot reads. Each names its tenant for its own transaction and selects, in one round trip: begin, set, select and
-- commit apart would halve the rate. They run with the caller's rights, so row security still decides.
CREATE FUNCTION pleat_key(wanted text) RETURNS SETOF api_keys LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.key', wanted, true);
    RETURN QUERY
        SELECT k.* FROM api_keys k
        WHERE k.id = wanted
            AND (k.tenant_id IS NULL
                OR EXISTS (SELECT FROM tenants t WHERE t.id = k.tenant_id AND t.deleted_at IS NULL));
END
$$;

-- `oldest` is the smallest id within retention: a task past it does not exist, even while its partition does.
CREATE FUNCTION pleat_task(tenant uuid, wanted uuid, owner text, oldest uuid)
RETURNS SETOF tasks LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY
        SELECT t.* FROM tasks t
        WHERE t.tenant_id = tenant AND t.id = wanted AND t.id >= oldest AND (owner IS NULL OR t.caller = owner);
END
$$;

CREATE FUNCTION pleat_events(tenant uuid, task uuid, after integer, most integer, oldest uuid)
RETURNS SETOF task_events LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY
        SELECT e.* FROM task_events e
        WHERE e.tenant_id = tenant AND e.task_id = task AND e.task_id >= oldest AND e.seq > after
        ORDER BY e.seq
        LIMIT most;
END
$$;

CREATE FUNCTION pleat_alias(tenant uuid, owner text, wanted text, oldest uuid) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY
        SELECT a.task_id FROM task_aliases a
        WHERE a.tenant_id = tenant AND a.caller = owner AND a.alias = wanted AND a.task_id >= oldest;
END
$$;

REVOKE EXECUTE ON FUNCTION pleat_key, pleat_task, pleat_events, pleat_alias FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_key, pleat_task, pleat_events, pleat_alias TO pleat_app;
