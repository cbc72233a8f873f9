package io.mortise.camel;

import io.mortise.LeaderOptions;
import io.mortise.Leadership;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.camel.cluster.CamelClusterMember;
import org.apache.camel.cluster.CamelClusterService;
import org.apache.camel.support.cluster.AbstractCamelClusterView;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A candidate for the leadership of a namespace. Its task only tells the listeners, and waits for
 * the end of its term between the two.
 */
final class LeadershipView extends AbstractCamelClusterView {
  private static final Logger log = LoggerFactory.getLogger(LeadershipView.class);

  /** The longest delay in noticing a term's end whose interrupt a listener has swallowed. */
  private static final long LOOK_MILLIS = 100;

  private final LockClient client;
  private final String lockName;
  private final LeaderOptions options;
  private final ViewMember local;

  private volatile Leadership.@Nullable Term term;
  private @Nullable Leadership candidacy;

  /** The thread that tells listeners of a term's end; null if there is none. */
  private volatile @Nullable Thread teller;

  LeadershipView(
      CamelClusterService service,
      LockClient client,
      String lockName,
      String namespace,
      LeaderOptions options) {
    super(service, namespace);
    this.client = client;
    this.lockName = lockName;
    this.options = options.withLabel(service.getId());
    this.local = new ViewMember(service.getId(), true, this::leads);
  }

  private boolean leads() {
    Leadership.Term now = term;
    return now != null && now.isLeading();
  }

  @Override
  public Optional<CamelClusterMember> getLeader() {
    if (leads()) {
      return Optional.of(local);
    }
    return find()
        .flatMap(info -> info.holders().stream().findFirst())
        // An own term that is over has no leader.
        .filter(holder -> !holder.label().equals(local.id()))
        .map(holder -> other(holder, true));
  }

  @Override
  public CamelClusterMember getLocalMember() {
    return local;
  }

  @Override
  public List<CamelClusterMember> getMembers() {
    List<CamelClusterMember> members = new ArrayList<>();
    members.add(local);
    find()
        .ifPresent(
            info -> {
              info.holders().forEach(each -> addOther(members, each, true));
              info.waiters().forEach(each -> addOther(members, each, false));
            });
    return members;
  }

  private void addOther(List<CamelClusterMember> members, LockParticipant each, boolean leads) {
    if (!each.label().equals(local.id())) {
      members.add(other(each, leads));
    }
  }

  private static ViewMember other(LockParticipant participant, boolean leads) {
    String id = participant.label().isEmpty() ? participant.attempt() : participant.label();
    return new ViewMember(id, false, () -> leads);
  }

  private Optional<LockInfo> find() {
    try {
      return client.admin().find(lockName);
    } catch (LockException | IllegalStateException e) {
      log.debug("Members of '{}' are not known.", LockName.of(lockName), e);
      return Optional.empty();
    }
  }

  @Override
  protected void doStart() {
    candidacy = client.leader(lockName, options, this::lead);
  }

  /** Waits until listeners have returned, at most for the close timeout. */
  @Override
  protected void doStop() {
    Leadership ended = candidacy;
    candidacy = null;
    if (ended != null && Thread.currentThread() == teller) {
      // A listener stops its view: waiting for the term's end here would be waiting for itself.
      new Thread(ended::close, "mortise-camel-" + lockName).start();
    } else if (ended != null) {
      ended.close();
    }
  }

  private void lead(Leadership.Term lead) {
    term = lead;
    try {
      fireLeadershipChangedEvent(local);
      // Waits for the interrupt of the term's end. A listener may have swallowed it.
      while (lead.isLeading()) {
        Thread.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      log.debug("The term of '{}' ends.", LockName.of(lockName));
    } finally {
      term = null;
      tellEnd();
    }
  }

  /**
   * Tells listeners that there is no leader, as far as this view knows. They stop routes, and are
   * never interrupted: they run on a thread of their own. That of the task is interrupted again
   * when a term that is being given up is lost, or when the view stops after a loss.
   */
  private void tellEnd() {
    Thread telling =
        new Thread(
            () -> fireLeadershipChangedEvent((CamelClusterMember) null),
            Thread.currentThread().getName() + "-end");
    teller = telling;
    telling.start();
    while (telling.isAlive()) {
      try {
        telling.join();
      } catch (InterruptedException e) {
        log.debug("The end of the term of '{}' was reported before.", LockName.of(lockName));
      }
    }
    teller = null;
  }
}
