-- Every definition ever deployed: the text as it was sent, because faults have their places in it, and its one canonical
-- form, which is what runs. Rows are written once and never changed: there is no UPDATE grant.
CREATE TABLE pipeline_versions (
    tenant_id uuid NOT NULL,
    pipeline text NOT NULL,
    version integer NOT NULL,
    hash bytea NOT NULL,
    source text NOT NULL,
    definition json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL,
    CONSTRAINT pipeline_versions_pkey PRIMARY KEY (tenant_id, pipeline, version),
    CONSTRAINT pipeline_versions_pipeline FOREIGN KEY (tenant_id, pipeline) REFERENCES pipelines (tenant_id, name)
);

ALTER TABLE pipeline_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE pipeline_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON pipeline_versions TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

GRANT SELECT, INSERT ON pipeline_versions TO pleat_app;
