-- Pipelines: what state each is in, and which of its versions runs.
CREATE TABLE pipelines (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    name text NOT NULL,
    -- 0 draft, 1 active, 2 archived.
    state smallint NOT NULL,
    version integer NOT NULL,
    -- 0 public, 1 listed, 2 unlisted.
    visibility smallint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pipelines_pkey PRIMARY KEY (tenant_id, name)
);

ALTER TABLE pipelines ENABLE ROW LEVEL SECURITY;
ALTER TABLE pipelines FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON pipelines TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT, UPDATE (state, version, visibility, updated_at) ON pipelines TO pleat_app;
