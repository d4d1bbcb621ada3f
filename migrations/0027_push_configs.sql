-- Who wants to be told of a task, and how far that has got. The way to the receiver (its address, token and credentials)
-- is sealed; `destination` is all of it that anybody but its caller is shown.
CREATE TABLE push_configs (
    tenant_id uuid NOT NULL,
    task_id uuid NOT NULL,
    id text NOT NULL,
    caller text NOT NULL,
    dialect text NOT NULL,
    destination text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The last event that the receiver has, or need not have.
    delivered integer NOT NULL,
    -- How often the next one was tried in vain.
    attempts integer NOT NULL DEFAULT 0,
    -- When somebody has to look after it. NULL: there is nothing left to do.
    next_at timestamptz DEFAULT now(),
    -- Tried too often: nothing is sent until somebody asks for it.
    dead boolean NOT NULL DEFAULT false,
    -- The node that looks after it, as with the lease of a task; NULL: none. Since when tells one time from another, also
    -- of the same node.
    holder uuid,
    holder_epoch bigint,
    held_at timestamptz,
    CONSTRAINT push_configs_pkey PRIMARY KEY (task_id, id)
);
CREATE INDEX push_configs_due ON push_configs (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX push_configs_of_tenant ON push_configs (tenant_id, created_at DESC);

ALTER TABLE push_configs ENABLE ROW LEVEL SECURITY;
ALTER TABLE push_configs FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON push_configs TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON push_configs TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON push_configs TO pleat_app, pleat_writer;

-- Something has happened to the task that no node follows for its receivers.
CREATE FUNCTION pleat_wake_pushes(tenant uuid, task uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    UPDATE push_configs c SET next_at = now()
    WHERE c.tenant_id = tenant AND c.task_id = task AND c.next_at IS NOT NULL AND c.attempts = 0;
    RETURN FOUND;
END
$$;

-- A node lays down what it looked after. Somebody who woke it meanwhile is not overlooked.
CREATE FUNCTION pleat_rest_push(
    tenant uuid, task uuid, push text, node uuid, since timestamptz, through integer, pause interval
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    UPDATE push_configs c SET
        delivered = greatest(c.delivered, through),
        next_at = CASE WHEN c.next_at > c.held_at THEN now() ELSE now() + pause END,
        holder = NULL
    WHERE c.tenant_id = tenant AND c.task_id = task AND c.id = push AND c.holder = node AND c.held_at = since;
END
$$;

REVOKE EXECUTE ON FUNCTION pleat_wake_pushes, pleat_rest_push FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_wake_pushes, pleat_rest_push TO pleat_app;
