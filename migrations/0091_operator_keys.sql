-- Operator keys are listed and revoked by operators: rows without a tenant, seen only by a transaction that says that it is
-- about the platform.
CREATE POLICY of_platform_read ON api_keys FOR SELECT TO pleat_app
    USING (tenant_id IS NULL AND current_setting('app.platform', true) = 'on');
CREATE POLICY of_platform_revoke ON api_keys FOR UPDATE TO pleat_app
    USING (tenant_id IS NULL AND current_setting('app.platform', true) = 'on')
    WITH CHECK (tenant_id IS NULL AND current_setting('app.platform', true) = 'on');
