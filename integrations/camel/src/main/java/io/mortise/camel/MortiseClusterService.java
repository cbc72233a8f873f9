package io.mortise.camel;

import io.mortise.LeaderOptions;
import io.mortise.LockClient;
import java.util.UUID;
import org.apache.camel.cluster.CamelClusterView;
import org.apache.camel.support.cluster.AbstractCamelClusterService;

/**
 * A cluster service of Camel over a lock client, for {@code master:} endpoints and {@code
 * ClusteredRoutePolicy}. For Camel 4.
 *
 * <p>The leader of a namespace is the holder of the exclusive lock {@code camel/NAMESPACE}. Each
 * view is a candidate from its start to its stop. Listeners are called on a thread of the view when
 * it begins and when it ceases to lead, and the lock is held until they have returned. So routes
 * that a listener stops have stopped before the next leader begins, unless the leadership was lost:
 * then the next one does not wait for them.
 *
 * <p>A loss is told at once, and {@code isLeader()} is false from then on. A listener that throws
 * when the view begins to lead ends the term; another candidate follows. Listeners are not told of
 * changes between other members. One that calls this service, and not its view, while that view is
 * stopped waits for the stop, which waits for it: at most for the close timeout. {@code
 * getLeader()} and {@code getMembers()} ask the store, for one round trip, unless this view leads;
 * if it does not answer, the answer is empty.
 *
 * <p>Thread-safe. The caller closes the client, after the Camel context.
 */
public final class MortiseClusterService extends AbstractCamelClusterService<CamelClusterView> {
  /** The beginning of the names of all locks of this class. */
  public static final String PREFIX = "camel/";

  private final LockClient client;
  private final LeaderOptions options;

  private MortiseClusterService(LockClient client, LeaderOptions options) {
    this.client = client;
    this.options = options;
    setId(UUID.randomUUID().toString());
  }

  /** Uses a client, with a random id. */
  public static MortiseClusterService over(LockClient client) {
    return over(client, LeaderOptions.DEFAULTS);
  }

  /**
   * Uses a client.
   *
   * @param options of each candidate; the id of the service, by which members know each other,
   *     replaces their label
   */
  public static MortiseClusterService over(LockClient client, LeaderOptions options) {
    return new MortiseClusterService(client, options);
  }

  /**
   * Makes a candidate, which is not started yet.
   *
   * @throws IllegalArgumentException if the namespace cannot be part of a lock's name
   */
  @Override
  protected CamelClusterView createView(String namespace) {
    return new LeadershipView(
        this, client, client.lock(PREFIX + namespace).name(), namespace, options);
  }
}
