-- What was deployed, so that every node can compile it: nodes share nothing but the database. Written once, with the
-- version, and kept as long as the tenant's versions are.
CREATE TABLE sources (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    hash bytea NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT sources_pkey PRIMARY KEY (tenant_id, hash),
    -- The most that an upload may have.
    CONSTRAINT sources_size CHECK (octet_length(bytes) <= 33554432)
);

ALTER TABLE sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE sources FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON sources TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT ON sources TO pleat_app;
