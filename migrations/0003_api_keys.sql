-- Keys: only a MAC of the secret. Operator keys belong to no tenant.
CREATE TABLE api_keys (
    id text CONSTRAINT api_keys_pkey PRIMARY KEY,
    tenant_id uuid REFERENCES tenants (id),
    mac bytea NOT NULL,
    scopes smallint NOT NULL,
    label text NOT NULL,
    last_four text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX api_keys_tenant ON api_keys (tenant_id, created_at);

ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON api_keys TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
-- Authentication looks a key up before it knows a tenant: it sees the one key it names, and nothing else.
CREATE POLICY by_id ON api_keys FOR SELECT TO pleat_app
    USING (id = nullif(current_setting('app.key', true), ''));
CREATE POLICY new_operator_key ON api_keys FOR INSERT TO pleat_app
    WITH CHECK (tenant_id IS NULL AND id = nullif(current_setting('app.key', true), ''));

GRANT SELECT, INSERT, UPDATE (revoked_at) ON api_keys TO pleat_app;
