-- Guardrail policies: a tenant's default (of the skill ''), and those of its skills.
CREATE TABLE guard_policies (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    skill text NOT NULL,
    -- As it was sent: what is told of its places refers to this.
    policy text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    updated_by text NOT NULL,
    CONSTRAINT guard_policies_pkey PRIMARY KEY (tenant_id, skill)
);

ALTER TABLE guard_policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE guard_policies FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON guard_policies TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, UPDATE, DELETE ON guard_policies TO pleat_app;
