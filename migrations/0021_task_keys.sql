-- Idempotency keys: a caller's second send under the same key is the first one's task. The fingerprint tells a repeated
-- send from another one that uses the key by mistake.
CREATE TABLE task_keys (
    tenant_id uuid NOT NULL,
    caller text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    task_id uuid NOT NULL,
    CONSTRAINT task_keys_pkey PRIMARY KEY (tenant_id, caller, key)
);
CREATE INDEX task_keys_by_age ON task_keys (task_id);

ALTER TABLE task_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON task_keys TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON task_keys TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT ON task_keys TO pleat_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON task_keys TO pleat_writer;

CREATE FUNCTION pleat_sent(tenant uuid, owner text, wanted text, oldest uuid)
RETURNS SETOF task_keys LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY
        SELECT k.* FROM task_keys k
        WHERE k.tenant_id = tenant AND k.caller = owner AND k.key = wanted AND k.task_id >= oldest;
END
$$;

REVOKE EXECUTE ON FUNCTION pleat_sent FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_sent TO pleat_app;
