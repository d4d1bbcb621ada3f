-- Sources that no version has any more are removed. A deploy that finds its source there renews it, so that the sweep, which
-- cannot see the deploy's version yet, leaves it alone.
GRANT UPDATE (created_at) ON sources TO pleat_app;
CREATE POLICY of_sweep ON sources FOR SELECT TO pleat_writer USING (true);
CREATE POLICY of_sweeper ON sources FOR DELETE TO pleat_writer USING (true);
GRANT SELECT (tenant_id, hash, created_at), DELETE ON sources TO pleat_writer;
