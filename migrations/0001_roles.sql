-- The two roles that the program works as. The login it connects with owns the tables and is a member of both; no role
-- has BYPASSRLS, which managed Postgres rarely grants.
-- Roles belong to the whole cluster, so two databases that are set up at once race here: whoever loses tries again.
DO $$
DECLARE
    wanted text;
    created boolean;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['pleat_app', 'pleat_writer'] LOOP
        FOR attempt IN 1..40 LOOP
            BEGIN
                created := NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted);
                IF created THEN
                    EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
                END IF;
                -- From version 16 on, whoever creates a role may administer it, but not use it without this grant.
                IF created OR NOT pg_has_role(current_user, wanted, 'MEMBER') THEN
                    EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
                END IF;
                EXIT;
            EXCEPTION
                -- internal_error is what "tuple concurrently updated" comes as.
                WHEN duplicate_object OR unique_violation OR internal_error THEN
                    IF attempt = 40 THEN
                        RAISE;
                    END IF;
                    PERFORM pg_sleep(0.05);
            END;
        END LOOP;
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA public TO pleat_app, pleat_writer;
