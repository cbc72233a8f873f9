package io.mortise.curator;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.Refusals;
import io.mortise.zookeeper.internal.AsyncNodeClient;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * An attempt at permits of a semaphore: the first in the line of {@code locks} makes its leases,
 * waits until there are no more than the semaphore has, and leaves the line. Its leases then remain
 * until the permits are released.
 *
 * <p>The first in the line takes several permits in one step, so that two attempts for several
 * never wait for each other with some in hand. Curator takes them one by one, each through the
 * line.
 */
final class SemaphoreAttempt extends CuratorAttempt implements Watcher {
  private static final int TRIES = 5;

  private final Mode mode;
  private final String directory;
  private final String leasesPath;
  private final String prefix;
  private final Supplier<MutexAttempt> freshMutex;

  private SemaphorePhase phase = SemaphorePhase.NEW;
  private MutexAttempt mutex;
  private List<String> leases = new ArrayList<>();
  private boolean inDoubt;
  private boolean compared;
  private boolean first;
  private long token;
  private byte[] note = new byte[0];
  private HoldTerms terms = HoldTerms.NONE;

  private enum SemaphorePhase {
    NEW,
    /** In the line, or not known to be out of it. */
    IN_LINE,
    /** First in line, with leases; there may be too many of them. */
    COUNTING,
    /** Enough leases exist; the line is still to be left. */
    LEAVING,
    HELD
  }

  SemaphoreAttempt(
      CuratorSession session, LockName name, AttemptId attempt, Mode mode, String directory) {
    super(session, name, attempt);
    this.mode = mode;
    this.directory = directory;
    this.leasesPath = child(directory, SemaphoreNodes.LEASES);
    this.prefix = ProtectedNodeName.prefix(attempt);
    this.freshMutex =
        () ->
            new MutexAttempt(
                session, name, attempt, Recipe.MUTEX, child(directory, SemaphoreNodes.LOCKS)) {
              @Override
              void forgotten(AttemptState attemptState, EndReason endReason) {}

              @Override
              void announce(SessionNotification sessionNotification) {
                if (sessionNotification instanceof SessionNotification.HoldGranted granted) {
                  first = true;
                  token = granted.token();
                  SemaphoreAttempt.this.onWatchEvent();
                } else if (sessionNotification instanceof SessionNotification.HoldEnded
                    && isKnown()) {
                  SemaphoreAttempt.this.onWatchEvent();
                }
              }

              @Override
              boolean isKnown() {
                return SemaphoreAttempt.this.isKnown() && mutex == this;
              }

              @Override
              boolean isAlone() {
                return false;
              }

              @Override
              void beforeDirectories(AttemptOperation operation, Runnable then) {
                checkUse(operation, then);
              }
            };
    this.mutex = freshMutex.get();
  }

  private AsyncNodeClient nodes() {
    return session.nodes();
  }

  @Override
  void afterPendingReads(Runnable then) {
    mutex.afterPendingReads(() -> super.afterPendingReads(then));
  }

  @Override
  void acquire(Request.Acquire request, AttemptOperation operation) {
    note = session.note(request);
    terms = request.terms();
    proceed(request.queue(), operation);
  }

  @Override
  void look(AttemptOperation operation) {
    if (phase == SemaphorePhase.NEW) {
      operation.end(standing());
    } else {
      proceed(true, operation);
    }
  }

  private void proceed(boolean queue, AttemptOperation operation) {
    switch (phase) {
      case NEW, IN_LINE -> {
        phase = SemaphorePhase.IN_LINE;
        if (first) {
          takeLeases(queue, operation, 0);
        } else {
          mutex.submit(
              new Request.Acquire(name, attempt, Mode.EXCLUSIVE, queue, terms, 1, 0, null),
              reply -> session.step(() -> inLine(reply, queue, operation)));
        }
      }
      case COUNTING -> count(queue, operation);
      case LEAVING -> leaveLine(operation);
      case HELD -> operation.end(granted());
    }
  }

  private void inLine(Reply reply, boolean queue, AttemptOperation operation) {
    if (reply instanceof Reply.Granted granted) {
      first = true;
      token = granted.token();
      takeLeases(queue, operation, 0);
    } else {
      if (reply instanceof Reply.Busy || reply instanceof Reply.Refused) {
        restart();
      }
      operation.end(reply);
    }
  }

  private void restart() {
    phase = SemaphorePhase.NEW;
    first = false;
    compared = false;
    mutex = freshMutex.get();
  }

  private void takeLeases(boolean queue, AttemptOperation operation, int tries) {
    if (inDoubt) {
      findLeases(
          operation,
          () -> {
            if (leases.isEmpty()) {
              takeLeases(queue, operation, tries);
            } else {
              count(queue, operation);
            }
          });
      return;
    }
    List<Op> creations = new ArrayList<>();
    for (int i = 0; i < mode.weight(); i++) {
      creations.add(
          nodes()
              .createOp(
                  child(leasesPath, prefix + SemaphoreNodes.WORD),
                  note,
                  CreateMode.EPHEMERAL_SEQUENTIAL));
    }
    nodes()
        .multi(
            creations,
            (code, results) -> {
              if (code == Code.OK && results != null) {
                take(results);
                count(queue, operation);
              } else if (code == Code.NONODE && tries < TRIES) {
                nodes()
                    .directories(
                        leasesPath,
                        (made, unused) -> {
                          if (made == Code.OK) {
                            takeLeases(queue, operation, tries + 1);
                          } else {
                            operation.fail(made, leasesPath);
                          }
                        });
              } else {
                inDoubt = code == Code.CONNECTIONLOSS;
                operation.fail(code, leasesPath);
              }
            });
  }

  /** Before the first permit is taken at a path: checks it for another use. */
  private void checkUse(AttemptOperation operation, Runnable then) {
    nodes()
        .children(
            directory,
            null,
            (code, children) -> {
              String use = children == null ? null : SemaphoreNodes.misuse(children);
              if (use != null) {
                operation.refuse(RefusalReason.CAPACITY_DIFFERS, differs(use));
              } else if (children == null && code != Code.NONODE) {
                operation.fail(code, directory);
              } else {
                then.run();
              }
            });
  }

  private void take(List<OpResult> results) {
    for (OpResult result : results) {
      leases.add(last(((OpResult.CreateResult) result).getPath()));
    }
  }

  private String differs(String use) {
    return "Path '" + directory + "' is in use as " + use + ". Use it as that, or another name.";
  }

  private void findLeases(AttemptOperation operation, Runnable then) {
    nodes().sync(leasesPath, (code, done) -> {});
    nodes()
        .children(
            leasesPath,
            null,
            (code, children) -> {
              if (children == null && code != Code.NONODE) {
                operation.fail(code, leasesPath);
                return;
              }
              inDoubt = false;
              leases = own(children == null ? List.of() : children);
              then.run();
            });
  }

  private List<String> own(List<String> children) {
    return new ArrayList<>(children.stream().filter(name -> name.startsWith(prefix)).toList());
  }

  private void count(boolean queue, AttemptOperation operation) {
    phase = SemaphorePhase.COUNTING;
    nodes()
        .children(
            leasesPath,
            queue ? this : null,
            (code, children) -> {
              if (children == null && code != Code.NONODE) {
                operation.fail(code, leasesPath);
              } else if (children == null
                  || leases.size() < mode.weight()
                  || !children.containsAll(leases)) {
                // Deleted by another client, or an earlier release got no answer.
                giveBack(operation, () -> gone(operation));
              } else {
                counted(children, queue, operation);
              }
            });
  }

  private void counted(List<String> children, boolean queue, AttemptOperation operation) {
    String other =
        children.stream().filter(child -> !child.startsWith(prefix)).findFirst().orElse(null);
    if (other != null && !compared) {
      compare(other, queue, operation);
    } else if (children.size() <= mode.capacity()) {
      phase = SemaphorePhase.LEAVING;
      leaveLine(operation);
    } else if (queue) {
      operation.end(standing());
    } else {
      Reply busy = new Reply.Busy(attempt, holder(other), session.ttl());
      giveBack(operation, () -> operation.end(busy));
    }
  }

  private void gone(AttemptOperation operation) {
    forgotten(AttemptState.WAITING, EndReason.EVICTED);
    operation.refuse(
        RefusalReason.ENDED, "A lease in '" + leasesPath + "' was deleted by somebody else.");
  }

  /**
   * Another holder's lease tells the number of permits, if it is one of ours. One lease is read,
   * once; without other holders, none.
   */
  private void compare(String lease, boolean queue, AttemptOperation operation) {
    nodes()
        .read(
            child(leasesPath, lease),
            (code, read) -> {
              int capacity =
                  read == null ? 0 : NodeDescription.parse(read.data(), session.ttl()).capacity();
              if (read == null && code != Code.NONODE) {
                operation.fail(code, leasesPath);
              } else if (capacity > 0 && capacity != mode.capacity()) {
                String message = differs("a semaphore of " + capacity + " permits");
                giveBack(
                    operation, () -> operation.refuse(RefusalReason.CAPACITY_DIFFERS, message));
              } else {
                compared = true;
                count(queue, operation);
              }
            });
  }

  private void leaveLine(AttemptOperation operation) {
    mutex.submit(
        new Request.Abandon(name, attempt),
        reply ->
            session.step(
                () -> {
                  if (reply instanceof Reply.Ended) {
                    phase = SemaphorePhase.HELD;
                    first = false;
                    if (!operation.isAsked()) {
                      announce(
                          new SessionNotification.HoldGranted(
                              name, attempt, token, 1, false, false));
                    }
                    operation.end(granted());
                  } else {
                    operation.end(reply);
                  }
                }));
  }

  private Reply standing() {
    return phase == SemaphorePhase.HELD
        ? granted()
        : new Reply.Queued(attempt, phase == SemaphorePhase.COUNTING ? 0 : 1, null, session.ttl());
  }

  private Reply.Granted granted() {
    return new Reply.Granted(attempt, token, 1, false, null, null);
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() != EventType.None) {
      session.step(
          () -> {
            if (isKnown()) {
              onWatchEvent();
            }
          });
    }
  }

  // ---- Releasing ----

  @Override
  void adjust(Request.Adjust request, AttemptOperation operation) {
    int weight = request.mode().weight();
    if (phase != SemaphorePhase.HELD) {
      operation.end(Refusals.notHeld(attempt, name));
    } else if (request.mode().capacity() != mode.capacity()) {
      operation.refuse(
          RefusalReason.CAPACITY_DIFFERS,
          "'" + name + "' is a semaphore of " + mode.capacity() + " permits here.");
    } else if (weight > leases.size()) {
      operation.end(Refusals.cannotWiden(attempt, name));
    } else {
      delete(leases.size() - weight, operation, () -> operation.end(granted()));
    }
  }

  @Override
  void abandon(AttemptOperation operation) {
    AttemptState attemptState = present();
    giveBack(
        operation,
        () ->
            operation.ended(
                attemptState,
                attemptState == AttemptState.ABSENT ? EndReason.UNKNOWN : EndReason.RELEASED));
  }

  /** Deletes all nodes; runs the action once they are surely gone. */
  private void giveBack(AttemptOperation operation, Runnable then) {
    if (inDoubt) {
      findLeases(operation, () -> giveBack(operation, then));
      return;
    }
    Consumer<Reply> left =
        reply ->
            session.step(
                () -> {
                  if (reply instanceof Reply.Ended) {
                    restart();
                    then.run();
                  } else {
                    operation.end(reply);
                  }
                });
    delete(leases.size(), operation, () -> mutex.submit(new Request.Abandon(name, attempt), left));
  }

  /** Deletes that many leases, all in flight at once; runs the action once they are gone. */
  private void delete(int count, AttemptOperation operation, Runnable then) {
    if (count == 0) {
      then.run();
      return;
    }
    List<String> going = List.copyOf(leases.subList(leases.size() - count, leases.size()));
    LeaseDeletion leaseDeletion = new LeaseDeletion(count, operation, then);
    for (String lease : going) {
      nodes()
          .delete(child(leasesPath, lease), (code, unused) -> leaseDeletion.answered(lease, code));
    }
  }

  /** Several deletions in flight; the last answer reports the result. */
  private final class LeaseDeletion {
    private final AttemptOperation operation;
    private final Runnable then;
    private int open;
    private Code failure = Code.OK;

    LeaseDeletion(int open, AttemptOperation operation, Runnable then) {
      this.open = open;
      this.operation = operation;
      this.then = then;
    }

    void answered(String lease, Code code) {
      if (code == Code.OK || code == Code.NONODE) {
        leases.remove(lease);
      } else {
        failure = code;
      }
      open--;
      if (open > 0) {
        return;
      }
      if (failure == Code.OK) {
        then.run();
      } else {
        operation.fail(failure, leasesPath);
      }
    }
  }

  @Override
  AttemptState present() {
    return phase == SemaphorePhase.HELD
        ? AttemptState.HELD
        : phase == SemaphorePhase.NEW ? AttemptState.ABSENT : AttemptState.WAITING;
  }

  @Override
  boolean isBlank() {
    return phase == SemaphorePhase.NEW;
  }
}
