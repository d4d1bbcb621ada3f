-- A task that waits can fail without running again, where what it was answered is refused.
GRANT UPDATE (failure) ON tasks TO pleat_app;
