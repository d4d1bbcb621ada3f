-- What functions are given by name: secrets, sealed under the master key, and settings, in plain text.
CREATE TABLE secrets (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    name text NOT NULL,
    -- The version of the key, a nonce, the ciphertext and its tag; bound to the tenant and the name.
    sealed bytea NOT NULL,
    -- Bytes of the value.
    length integer NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    updated_by text NOT NULL,
    CONSTRAINT secrets_pkey PRIMARY KEY (tenant_id, name)
);

ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE secrets FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON secrets TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON secrets TO pleat_app;

CREATE TABLE settings (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    name text NOT NULL,
    value text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    updated_by text NOT NULL,
    CONSTRAINT settings_pkey PRIMARY KEY (tenant_id, name)
);

ALTER TABLE settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE settings FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON settings TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON settings TO pleat_app;

-- One round trip each, as the other hot reads.
CREATE FUNCTION pleat_secret(tenant uuid, wanted text) RETURNS SETOF bytea LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY SELECT s.sealed FROM secrets s WHERE s.tenant_id = tenant AND s.name = wanted;
END
$$;

CREATE FUNCTION pleat_setting(tenant uuid, wanted text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY SELECT s.value FROM settings s WHERE s.tenant_id = tenant AND s.name = wanted;
END
$$;

REVOKE EXECUTE ON FUNCTION pleat_secret, pleat_setting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_secret, pleat_setting TO pleat_app;
