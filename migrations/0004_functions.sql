-- Deployed functions: which version of each is active.
CREATE TABLE functions (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    name text NOT NULL,
    active_version integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    CONSTRAINT functions_pkey PRIMARY KEY (tenant_id, name)
);

ALTER TABLE functions ENABLE ROW LEVEL SECURITY;
ALTER TABLE functions FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON functions TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, UPDATE (active_version, updated_at, deleted_at) ON functions TO pleat_app;
