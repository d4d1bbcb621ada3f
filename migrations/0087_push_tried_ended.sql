-- The same as before, and keeps with the configuration why it ended.
CREATE OR REPLACE FUNCTION pleat_push_tried(
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
        ended = CASE WHEN became = 'dead' THEN reason END,
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
