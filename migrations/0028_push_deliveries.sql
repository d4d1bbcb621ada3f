-- What became of each event that a receiver was to be told: the tenant's delivery log, kept as long as the task.
CREATE TABLE push_deliveries (
    tenant_id uuid NOT NULL,
    task_id uuid NOT NULL,
    -- What the receiver knows it by: the same at every attempt.
    id uuid NOT NULL,
    push_id text NOT NULL,
    seq integer NOT NULL,
    destination text NOT NULL,
    -- delivered, retrying or dead.
    state text NOT NULL,
    attempts integer NOT NULL,
    -- Of the last attempt: what the receiver answered, why that was not enough, and how long it took.
    status integer,
    fault text,
    took_ms integer NOT NULL,
    first_at timestamptz NOT NULL DEFAULT now(),
    at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT push_deliveries_pkey PRIMARY KEY (task_id, id)
) PARTITION BY RANGE (task_id);
CREATE INDEX push_deliveries_of_tenant ON push_deliveries (tenant_id, at DESC);

ALTER TABLE push_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE push_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON push_deliveries TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, UPDATE ON push_deliveries TO pleat_app;

-- The program makes partitions from now on. A task that is there already may get a receiver too.
DO $$
DECLARE
    hour record;
BEGIN
    FOR hour IN
        SELECT c.relname::text AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'tasks'::regclass AND NOT i.inhdetachpending
    LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF push_deliveries %s',
            replace(hour.name, 'tasks_p', 'push_deliveries_p'), hour.bounds);
    END LOOP;
END
$$;

-- One attempt, and what follows from it for the receiver, if the node still looks after it. `pause`: until the next one.
CREATE FUNCTION pleat_push_tried(
    tenant uuid, task uuid, push text, node uuid, since timestamptz,
    message uuid, event integer, became text, tries integer, pause interval, answer integer, reason text, took integer
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    receiver text;
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    UPDATE push_configs c SET
        delivered = CASE WHEN became = 'delivered' THEN event ELSE c.delivered END,
        attempts = CASE WHEN became = 'delivered' THEN 0 ELSE tries END,
        next_at = CASE became WHEN 'delivered' THEN c.next_at WHEN 'retrying' THEN now() + pause END,
        dead = became = 'dead',
        holder = CASE WHEN became = 'delivered' THEN c.holder END
    WHERE c.tenant_id = tenant AND c.task_id = task AND c.id = push AND c.holder = node AND c.held_at = since
    RETURNING c.destination INTO receiver;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO push_deliveries AS d
        (tenant_id, task_id, id, push_id, seq, destination, state, attempts, status, fault, took_ms)
    VALUES (tenant, task, message, push, event, receiver, became, tries, answer, reason, took)
    ON CONFLICT (task_id, id) DO UPDATE SET destination = excluded.destination, state = excluded.state,
        attempts = excluded.attempts, status = excluded.status, fault = excluded.fault, took_ms = excluded.took_ms,
        at = excluded.at;
    RETURN true;
END
$$;

REVOKE EXECUTE ON FUNCTION pleat_push_tried FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_push_tried TO pleat_app;
