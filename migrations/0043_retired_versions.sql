-- When a version stopped being the active one, and whether its function was deleted: what is known here need not be kept
-- for ever. A trigger writes both, so that they are right whoever switches, nodes of the version before included.
ALTER TABLE function_versions
    ADD COLUMN retired_at timestamptz,
    ADD COLUMN deleted boolean NOT NULL DEFAULT false;
GRANT UPDATE (retired_at, deleted) ON function_versions TO pleat_app;

CREATE FUNCTION pleat_retire_versions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    gone boolean := NEW.deleted_at IS NOT NULL;
BEGIN
    UPDATE function_versions v
    SET retired_at = CASE WHEN v.version = NEW.active_version AND NOT gone THEN NULL ELSE coalesce(v.retired_at, now()) END,
        deleted = gone
    WHERE v.tenant_id = NEW.tenant_id AND v.function = NEW.name
        AND (v.retired_at IS NULL OR v.version = NEW.active_version OR v.deleted <> gone);
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION pleat_retire_versions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_retire_versions TO pleat_app;
CREATE TRIGGER retire_versions AFTER UPDATE OF active_version, deleted_at ON functions
    FOR EACH ROW EXECUTE FUNCTION pleat_retire_versions();

-- What was switched before today was switched now, to be on the safe side. The owner sees rows for this moment only.
ALTER TABLE functions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE function_versions NO FORCE ROW LEVEL SECURITY;
UPDATE function_versions v SET retired_at = now(), deleted = f.deleted_at IS NOT NULL
    FROM functions f
    WHERE f.tenant_id = v.tenant_id AND f.name = v.function
        AND (f.deleted_at IS NOT NULL OR v.version <> f.active_version);
ALTER TABLE functions FORCE ROW LEVEL SECURITY;
ALTER TABLE function_versions FORCE ROW LEVEL SECURITY;

-- The sweep is of all tenants: it sees which versions there are, not what is in them, and removes none that is active.
CREATE POLICY of_sweep ON function_versions FOR SELECT TO pleat_writer USING (true);
CREATE POLICY of_sweeper ON function_versions FOR DELETE TO pleat_writer USING (retired_at IS NOT NULL);
GRANT SELECT (tenant_id, function, version, hash, retired_at, deleted), DELETE ON function_versions TO pleat_writer;
