-- Every version ever deployed. Rows are written once and never changed: there is no UPDATE grant.
CREATE TABLE function_versions (
    tenant_id uuid NOT NULL,
    function text NOT NULL,
    version integer NOT NULL,
    hash bytea NOT NULL,
    language text NOT NULL,
    file_name text NOT NULL,
    size integer NOT NULL,
    manifest json NOT NULL,
    grants json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    CONSTRAINT function_versions_pkey PRIMARY KEY (tenant_id, function, version),
    CONSTRAINT function_versions_function FOREIGN KEY (tenant_id, function) REFERENCES functions (tenant_id, name)
);

ALTER TABLE function_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE function_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON function_versions TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT ON function_versions TO pleat_app;
