-- Tenants. A platform table: found by slug before any tenant is known, so it has narrow grants instead of row security.
-- A deleted tenant leaves its row, so that its name is never given to somebody else.
CREATE TABLE tenants (
    id uuid CONSTRAINT tenants_pkey PRIMARY KEY,
    slug text NOT NULL CONSTRAINT tenants_slug_key UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    -- Raised by everything that changes what is deployed; a node compares it with what it has loaded.
    generation bigint NOT NULL DEFAULT 1
);

GRANT SELECT, INSERT (id, slug), UPDATE (deleted_at, generation) ON tenants TO pleat_app;
