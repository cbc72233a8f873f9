package io.mortise.liquibase;

import static org.awaitility.Awaitility.await;

import io.mortise.LockClient;
import io.mortise.admin.Eviction;
import java.util.concurrent.atomic.AtomicReference;
import liquibase.change.custom.CustomTaskChange;
import liquibase.database.Database;
import liquibase.exception.ValidationErrors;
import liquibase.resource.ResourceAccessor;

/** A change during which an operator ends the hold of the run, once. */
public final class EvictingChange implements CustomTaskChange {
  private static final AtomicReference<Runnable> EVICT = new AtomicReference<>();

  static void arm(LockClient client, String lock) {
    EVICT.set(
        () ->
            client
                .admin()
                .evict(
                    lock,
                    client.admin().find(lock).orElseThrow().holders().get(0).attempt(),
                    Eviction.BREAK));
  }

  @Override
  public void execute(Database database) {
    Runnable evict = EVICT.getAndSet(null);
    if (evict != null) {
      evict.run();
      await().until(() -> database.getConnection().isClosed());
    }
  }

  @Override
  public String getConfirmationMessage() {
    return "done";
  }

  @Override
  public void setUp() {}

  @Override
  public void setFileOpener(ResourceAccessor resourceAccessor) {}

  @Override
  public ValidationErrors validate(Database database) {
    return new ValidationErrors();
  }
}
