-- Running nodes. A node proves that it lives by moving beat_at; tasks are leased to (id, epoch).
CREATE TABLE nodes (
    id uuid CONSTRAINT nodes_pkey PRIMARY KEY,
    epoch bigint NOT NULL,
    beat_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE nodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE nodes FORCE ROW LEVEL SECURITY;
CREATE POLICY of_writer ON nodes TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON nodes TO pleat_writer;
