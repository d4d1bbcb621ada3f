-- What a tenant may use (a name in the platform's configuration), and what a key may use within it.
ALTER TABLE tenants ADD COLUMN plan text NOT NULL DEFAULT 'standard';
ALTER TABLE api_keys ADD COLUMN requests_per_minute integer, ADD COLUMN concurrent_tasks integer;

GRANT INSERT (plan), UPDATE (plan) ON tenants TO pleat_app;
