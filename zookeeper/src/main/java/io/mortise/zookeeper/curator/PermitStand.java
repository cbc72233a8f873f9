package io.mortise.zookeeper.curator;

import io.mortise.LockName;
import io.mortise.Terms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Was;
import io.mortise.spi.Reply.Why;
import io.mortise.spi.Request;
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
 * An attempt at permits of a semaphore: who is first in the line of {@code locks} makes its leases,
 * waits until there are no more than the semaphore has, and leaves the line. Its leases then stand
 * until the permits come back.
 *
 * <p>Several permits are taken in one step by whoever is first, so that two who want several never
 * wait for each other with some in hand. Curator takes them one by one, each through the line.
 */
final class PermitStand extends Stand implements Watcher {
  private static final int TRIES = 5;

  private final Mode mode;
  private final String directory;
  private final String leasesPath;
  private final String prefix;
  private final Supplier<LineStand> freshLine;

  private Phase phase = Phase.NEW;
  private LineStand line;
  private List<String> leases = new ArrayList<>();
  private boolean inDoubt;
  private boolean compared;
  private boolean first;
  private long token;
  private byte[] note = new byte[0];
  private Terms terms = Terms.NONE;

  private enum Phase {
    NEW,
    /** In the line, or not known to be out of it. */
    IN_LINE,
    /** First in line, with leases, of which there are too many. */
    COUNTING,
    /** Enough leases are there; the line is still to be left. */
    LEAVING,
    HELD
  }

  PermitStand(
      CuratorSession session, LockName name, AttemptId attempt, Mode mode, String directory) {
    super(session, name, attempt);
    this.mode = mode;
    this.directory = directory;
    this.leasesPath = child(directory, SemaphoreNodes.LEASES);
    this.prefix = NodeName.prefix(attempt);
    this.freshLine =
        () ->
            new LineStand(
                session, name, attempt, Recipe.MUTEX, child(directory, SemaphoreNodes.LOCKS)) {
              @Override
              void forgotten(Was was, How how) {}

              @Override
              void announce(News news) {
                if (news instanceof News.Granted granted) {
                  first = true;
                  token = granted.token();
                  PermitStand.this.stir();
                }
              }

              @Override
              boolean isKnown() {
                return PermitStand.this.isKnown() && line == this;
              }

              @Override
              boolean isAlone() {
                return false;
              }

              @Override
              void beforeDirectories(Turn turn, Runnable then) {
                checkUse(turn, then);
              }
            };
    this.line = freshLine.get();
  }

  private Wire wire() {
    return session.wire();
  }

  @Override
  void whenLooked(Runnable then) {
    line.whenLooked(() -> super.whenLooked(then));
  }

  @Override
  void acquire(Request.Acquire request, Turn turn) {
    note = session.note(request);
    terms = request.terms();
    proceed(request.queue(), turn);
  }

  @Override
  void look(Turn turn) {
    if (phase == Phase.IN_LINE || phase == Phase.COUNTING) {
      proceed(true, turn);
    } else {
      turn.end(standing());
    }
  }

  private void proceed(boolean queue, Turn turn) {
    switch (phase) {
      case NEW, IN_LINE -> {
        phase = Phase.IN_LINE;
        if (first) {
          takeLeases(queue, turn, 0);
        } else {
          line.submit(
              new Request.Acquire(name, attempt, Mode.EXCLUSIVE, queue, terms, 1, 0, null),
              reply -> session.step(() -> inLine(reply, queue, turn)));
        }
      }
      case COUNTING -> count(queue, turn);
      case LEAVING -> leaveLine(turn);
      case HELD -> turn.end(granted());
    }
  }

  private void inLine(Reply reply, boolean queue, Turn turn) {
    if (reply instanceof Reply.Granted granted) {
      first = true;
      token = granted.token();
      takeLeases(queue, turn, 0);
    } else {
      if (reply instanceof Reply.Busy || reply instanceof Reply.Refused) {
        restart();
      }
      turn.end(reply);
    }
  }

  private void restart() {
    phase = Phase.NEW;
    first = false;
    compared = false;
    line = freshLine.get();
  }

  private void takeLeases(boolean queue, Turn turn, int tries) {
    if (inDoubt) {
      findLeases(
          turn,
          () -> {
            if (leases.isEmpty()) {
              takeLeases(queue, turn, tries);
            } else {
              count(queue, turn);
            }
          });
      return;
    }
    List<Op> creations = new ArrayList<>();
    for (int i = 0; i < mode.weight(); i++) {
      creations.add(
          wire()
              .createOp(
                  child(leasesPath, prefix + SemaphoreNodes.WORD),
                  note,
                  CreateMode.EPHEMERAL_SEQUENTIAL));
    }
    wire()
        .multi(
            creations,
            (code, results) ->
                session.step(
                    () -> {
                      if (code == Code.OK && results != null) {
                        take(results);
                        count(queue, turn);
                      } else if (code == Code.NONODE && tries < TRIES) {
                        wire()
                            .directories(
                                leasesPath,
                                (made, unused) ->
                                    session.step(
                                        () -> {
                                          if (made == Code.OK) {
                                            takeLeases(queue, turn, tries + 1);
                                          } else {
                                            turn.fail(made, leasesPath);
                                          }
                                        }));
                      } else {
                        inDoubt = code == Code.CONNECTIONLOSS;
                        turn.fail(code, leasesPath);
                      }
                    }));
  }

  /** Before the first permit is taken at a path: whether that is something else already. */
  private void checkUse(Turn turn, Runnable then) {
    wire()
        .children(
            directory,
            null,
            (code, children) ->
                session.step(
                    () -> {
                      String use = children == null ? null : SemaphoreNodes.misuse(children);
                      if (use != null) {
                        turn.refuse(Why.CAPACITY_DIFFERS, differs(use));
                      } else if (children == null && code != Code.NONODE) {
                        turn.fail(code, directory);
                      } else {
                        then.run();
                      }
                    }));
  }

  private void take(List<OpResult> results) {
    for (OpResult result : results) {
      leases.add(last(((OpResult.CreateResult) result).getPath()));
    }
  }

  private String differs(String use) {
    return "Path '" + directory + "' is in use as " + use + ". Use it as that, or another name.";
  }

  private void findLeases(Turn turn, Runnable then) {
    wire().sync(leasesPath, (code, done) -> {});
    wire()
        .children(
            leasesPath,
            null,
            (code, children) ->
                session.step(
                    () -> {
                      if (children == null && code != Code.NONODE) {
                        turn.fail(code, leasesPath);
                        return;
                      }
                      inDoubt = false;
                      leases = own(children == null ? List.of() : children);
                      then.run();
                    }));
  }

  private List<String> own(List<String> children) {
    return new ArrayList<>(children.stream().filter(name -> name.startsWith(prefix)).toList());
  }

  private void count(boolean queue, Turn turn) {
    wire()
        .children(
            leasesPath,
            queue ? this : null,
            (code, children) ->
                session.step(
                    () -> {
                      if (children == null && code != Code.NONODE) {
                        phase = Phase.COUNTING;
                        turn.fail(code, leasesPath);
                      } else if (children == null || !children.containsAll(leases)) {
                        giveBack(turn, () -> gone(turn));
                      } else {
                        counted(children, queue, turn);
                      }
                    }));
  }

  private void counted(List<String> children, boolean queue, Turn turn) {
    String other =
        children.stream().filter(child -> !child.startsWith(prefix)).findFirst().orElse(null);
    if (other != null && !compared) {
      compare(other, queue, turn);
    } else if (children.size() <= mode.capacity()) {
      phase = Phase.LEAVING;
      leaveLine(turn);
    } else if (queue) {
      phase = Phase.COUNTING;
      turn.end(standing());
    } else {
      Reply busy = new Reply.Busy(attempt, holder(other), session.ttl());
      giveBack(turn, () -> turn.end(busy));
    }
  }

  private void gone(Turn turn) {
    forgotten(Was.WAITING, How.EVICTED);
    turn.refuse(Why.ENDED, "A lease in '" + leasesPath + "' was deleted by somebody else.");
  }

  /**
   * Another's lease tells how many permits there are, if it is one of ours. One is asked, once:
   * where nobody else holds, nobody is.
   */
  private void compare(String lease, boolean queue, Turn turn) {
    wire()
        .data(
            child(leasesPath, lease),
            (code, data) ->
                session.step(
                    () -> {
                      int capacity =
                          data == null ? 0 : NodeNote.parse(data, session.ttl()).capacity();
                      compared = true;
                      if (data == null && code != Code.NONODE) {
                        turn.fail(code, leasesPath);
                      } else if (capacity > 0 && capacity != mode.capacity()) {
                        String message = differs("a semaphore of " + capacity + " permits");
                        giveBack(turn, () -> turn.refuse(Why.CAPACITY_DIFFERS, message));
                      } else {
                        count(queue, turn);
                      }
                    }));
  }

  private void leaveLine(Turn turn) {
    line.submit(
        new Request.Abandon(name, attempt),
        reply ->
            session.step(
                () -> {
                  if (reply instanceof Reply.Ended) {
                    phase = Phase.HELD;
                    first = false;
                    if (!turn.isAsked()) {
                      announce(new News.Granted(name, attempt, token, 1, false, false));
                    }
                    turn.end(granted());
                  } else {
                    turn.end(reply);
                  }
                }));
  }

  private Reply standing() {
    return phase == Phase.HELD
        ? granted()
        : new Reply.Queued(attempt, phase == Phase.COUNTING ? 0 : 1, null, session.ttl());
  }

  private Reply.Granted granted() {
    return new Reply.Granted(attempt, token, 1, false, null);
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() != EventType.None) {
      session.step(
          () -> {
            if (isKnown()) {
              stir();
            }
          });
    }
  }

  // ---- Giving back ----

  @Override
  void adjust(Request.Adjust request, Turn turn) {
    int weight = request.mode().weight();
    if (phase != Phase.HELD) {
      turn.refuse(Why.NOT_HELD, "The attempt holds no permit of '" + name + "'.");
    } else if (request.mode().capacity() != mode.capacity()) {
      turn.refuse(
          Why.CAPACITY_DIFFERS,
          "'" + name + "' is a semaphore of " + mode.capacity() + " permits here.");
    } else if (weight > leases.size()) {
      turn.refuse(Why.UNSUPPORTED, "A hold on '" + name + "' cannot be widened.");
    } else {
      delete(leases.size() - weight, turn, () -> turn.end(granted()));
    }
  }

  @Override
  void abandon(Turn turn) {
    Was was = present();
    giveBack(turn, () -> turn.ended(was, was == Was.ABSENT ? How.UNKNOWN : How.RELEASED));
  }

  /** Deletes all nodes; what follows is done once they are surely gone. */
  private void giveBack(Turn turn, Runnable then) {
    if (inDoubt) {
      findLeases(turn, () -> giveBack(turn, then));
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
                    turn.end(reply);
                  }
                });
    delete(leases.size(), turn, () -> line.submit(new Request.Abandon(name, attempt), left));
  }

  /** Deletes so many leases, all under way at once; what follows is done once they are gone. */
  private void delete(int count, Turn turn, Runnable then) {
    if (count == 0) {
      then.run();
      return;
    }
    List<String> going = List.copyOf(leases.subList(leases.size() - count, leases.size()));
    int[] left = {count};
    Code[] failure = {Code.OK};
    for (String lease : going) {
      wire()
          .delete(
              child(leasesPath, lease),
              (code, unused) ->
                  session.step(
                      () -> {
                        if (code == Code.OK || code == Code.NONODE) {
                          leases.remove(lease);
                        } else {
                          failure[0] = code;
                        }
                        if (--left[0] > 0) {
                          return;
                        }
                        if (failure[0] == Code.OK) {
                          then.run();
                        } else {
                          turn.fail(failure[0], leasesPath);
                        }
                      }));
    }
  }

  @Override
  Was present() {
    return phase == Phase.HELD ? Was.HELD : phase == Phase.NEW ? Was.ABSENT : Was.WAITING;
  }

  @Override
  boolean isBlank() {
    return phase == Phase.NEW;
  }
}
