-- For which versions of A2A a tenant's card is: `all`, or `1.0` alone.
ALTER TABLE tenants ADD COLUMN card text NOT NULL DEFAULT 'all';
GRANT UPDATE (card) ON tenants TO pleat_app;

-- The keys that sign cards, by their numbers: a key follows from the master key and its number, so that nothing in here
-- is secret. A platform table, with narrow grants.
CREATE TABLE card_keys (
    number integer CONSTRAINT card_keys_pkey PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

-- The first has been there for as long as there were cards.
INSERT INTO card_keys (number, created_at) VALUES (1, now() - interval '1 hour');

GRANT SELECT, INSERT (number), UPDATE (revoked_at) ON card_keys TO pleat_app;
