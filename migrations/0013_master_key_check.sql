-- One row, sealed under the master key when the platform first started: a node with another key must not go on.
CREATE TABLE master_key_check (
    one boolean NOT NULL DEFAULT true CONSTRAINT master_key_check_pkey PRIMARY KEY
        CONSTRAINT master_key_check_one_row CHECK (one),
    sealed bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT (sealed) ON master_key_check TO pleat_app;
