-- Tasks, in partitions of one hour by the id itself: ids are UUIDv7, so a look-up by id touches one partition, and
-- retention drops whole partitions. The program makes the partitions; there is no default one, because it would forbid
-- detaching concurrently. Payloads are json, not jsonb: never queried inside, cheaper, and they keep \u0000.
CREATE TABLE tasks (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    skill text NOT NULL,
    version integer NOT NULL,
    -- NULL: the context that follows from the id.
    context_id text,
    parent_id uuid,
    caller text NOT NULL,
    door text NOT NULL,
    alias text,
    state smallint NOT NULL,
    failure json,
    ask json,
    input json NOT NULL,
    -- NULL: none.
    history json,
    artifacts json,
    attempt smallint NOT NULL,
    turn smallint NOT NULL,
    last_seq integer NOT NULL,
    cpu_us bigint NOT NULL,
    wall_us bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    lease_owner uuid NOT NULL,
    lease_epoch bigint NOT NULL,
    CONSTRAINT tasks_pkey PRIMARY KEY (tenant_id, id)
) PARTITION BY RANGE (id);
-- What is not final: little at any time, looked through for lost nodes and for tasks whose time is up.
CREATE INDEX tasks_unfinished ON tasks (lease_owner) WHERE state IN (0, 1, 2, 3);
CREATE INDEX tasks_of_caller ON tasks (tenant_id, caller, updated_at DESC);
CREATE INDEX tasks_of_context ON tasks (tenant_id, context_id) WHERE context_id IS NOT NULL;

ALTER TABLE tasks ENABLE ROW LEVEL SECURITY;
ALTER TABLE tasks FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON tasks TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON tasks TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT, UPDATE (state, ask, last_seq, updated_at) ON tasks TO pleat_app;
GRANT SELECT, INSERT, UPDATE ON tasks TO pleat_writer;
