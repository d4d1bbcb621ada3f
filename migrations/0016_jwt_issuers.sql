-- Who may issue tokens for a tenant. The keys are theirs and public; what a token may do is bounded by the scopes here.
CREATE TABLE jwt_issuers (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    id text NOT NULL,
    issuer text NOT NULL,
    -- None: the tenant's own addresses.
    audiences text[] NOT NULL,
    jwks json,
    jwks_url text,
    scopes smallint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    CONSTRAINT jwt_issuers_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT jwt_issuers_issuer_key UNIQUE (tenant_id, issuer),
    CONSTRAINT jwt_issuers_one_source CHECK ((jwks IS NULL) <> (jwks_url IS NULL))
);

ALTER TABLE jwt_issuers ENABLE ROW LEVEL SECURITY;
ALTER TABLE jwt_issuers FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON jwt_issuers TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, DELETE, UPDATE (jwks) ON jwt_issuers TO pleat_app;
