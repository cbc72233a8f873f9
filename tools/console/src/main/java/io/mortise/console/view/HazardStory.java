package io.mortise.console.view;

import io.mortise.guarantee.Fault;
import io.mortise.guarantee.Guarantee;
import io.mortise.guarantee.GuaranteeLevel;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The text of a hazard: for the command line, which can also run it, and for the console.
 *
 * @param name for the command line
 * @param title the hazard in a line
 * @param source its first or best description
 * @param needs the programs that it starts, as text
 * @param naive the fate of a naive lock
 * @param mortise Mortise's behaviour
 * @param stores the affected stores, as before the slash of a {@link StoreMode}; empty for all
 * @param faults the columns of the guarantee table that it shows; none if it only costs performance
 */
public record HazardStory(
    String name,
    String title,
    String source,
    String needs,
    String naive,
    String mortise,
    Set<String> stores,
    List<String> faults) {
  private static final Set<String> ANY = Set.of();
  private static final Set<String> QUORUM = Set.of("quorum");

  private static final List<HazardStory> ALL =
      List.of(
          new HazardStory(
              "gc-pause",
              "A holder stands still for longer than its lock lives, wakes up and writes",
              "M. Kleppmann, How to do distributed locking, 2016; Apache Curator, Tech Note 10",
              "redis-server",
              "The lock expires, another process takes it and writes. The first one goes on where it was, and its late write"
                  + " undoes that of the other. Nobody notices.",
              "The lease of the first holder is lost when it wakes up. The resource refuses its late write, since it has seen"
                  + " a later token.",
              ANY,
              List.of("client-pause")),
          new HazardStory(
              "expired-release",
              "A holder whose time is over releases the lock of its successor",
              "Redis documentation, Distributed locks; pitfall of every lock that is released by"
                  + " name",
              "redis-server",
              "The first holder works for longer than its lock lives. Its DEL then releases the lock of the second one, and a"
                  + " third one works at the same time.",
              "Only the attempt that was granted can release. The late release says that the lease was lost, and the second"
                  + " holder keeps the lock.",
              ANY,
              List.of("client-pause")),
          new HazardStory(
              "failover-forgets",
              "A replica that is promoted does not know the lock, and grants it again",
              "Redis documentation, Distributed locks; K. Kingsbury, Jepsen: Redis, 2013",
              "redis-server",
              "Two processes hold the lock. A token from a counter is the same for both, so nothing tells them apart.",
              "Two processes may hold until the first one has asked the new server about its leases. The later token is greater"
                  + " though the counter was lost, so the resource refuses the first one.",
              ANY,
              List.of("failover")),
          new HazardStory(
              "redlock-restart",
              "A server of a quorum forgets, and votes for another",
              "M. Kleppmann, How to do distributed locking, 2016; Redis documentation, Distributed"
                  + " locks",
              "redis-server",
              "A server restarts without its data and gives its vote a second time. Two processes have a majority each.",
              "A server that may have forgotten has no vote for a quarantine time. A lease hangs on the very servers that"
                  + " granted it, so it ends before another is granted.",
              QUORUM,
              List.of("server-crash", "power-loss")),
          new HazardStory(
              "redlock-clock-jump",
              "The clock of one server of a quorum jumps, and its vote is free again",
              "M. Kleppmann, How to do distributed locking, 2016",
              "redis-server, faketime",
              "The lock on that server expires an hour early. Two processes have a majority each.",
              "With strict-expiry=true no clock of a server decides who is dead. A session ends when its beat was seen"
                  + " unchanged for a TTL.",
              QUORUM,
              List.of("server-clock-forward")),
          new HazardStory(
              "redlock-partition",
              "A holder is cut off from most servers of a quorum, and one still answers it",
              "S. Sanfilippo, Is Redlock safe?, 2016; P. Bailis and K. Kingsbury, The Network is"
                  + " Reliable, 2014",
              "redis-server",
              "The holder extends its lock on the one server that it reaches, gets OK, and goes on writing. Another process"
                  + " has the majority.",
              "One server of three keeps no lease alive. The holder learns of the loss before the store grants the lock to"
                  + " the other process.",
              QUORUM,
              List.of("partition")),
          new HazardStory(
              "sharded-instance-dies",
              "A client leaves a server out that it cannot reach, and its names move",
              "B. Fitzpatrick, Distributed caching with memcached, 2004",
              "redis-server",
              "The client takes the lock on the next server, while another client holds it on the first one.",
              "A name never moves by itself. The client gets an error that the store is unavailable, which is neither busy"
                  + " nor granted.",
              Set.of("redis-sharded"),
              List.of("partition")),
          new HazardStory(
              "zk-session-gc",
              "A holder of an ephemeral node stands still for longer than its session lives",
              "Apache Curator, Tech Note 10; F. Junqueira and B. Reed, ZooKeeper, 2013",
              "none: ZooKeeper comes along",
              "The session expires and another process makes the node. The first one goes on, hears of it later, and has"
                  + " written by then.",
              "The lease of the first holder is lost when it wakes up, without asking a server. The resource refuses its late"
                  + " write by the token.",
              Set.of("zk", "zk+curator"),
              List.of("client-pause")),
          new HazardStory(
              "db-crash-holder",
              "Locks in a database, when their holder dies and when the database dies",
              "PostgreSQL documentation, Advisory Locks; MariaDB documentation, GET_LOCK",
              "postgres and initdb, or mariadbd",
              "A row that its dead holder does not delete is shut for ever. The lock of a session is forgotten when the database"
                  + " crashes, and is granted again while its holder works.",
              "A dead holder delays others for a TTL. A crash of the database forgets no grant, since it was on the disk.",
              Set.of("sqlite", "postgresql", "mysql", "mariadb"),
              List.of("client-crash", "server-crash")),
          new HazardStory(
              "thundering-herd",
              "Each release wakes all who wait, and all but one wake in vain",
              "Apache ZooKeeper, Recipes and Solutions: Locks",
              "redis-server",
              "The work of the server grows with the square of the number of waiters.",
              "A release hands over to the head of the queue. Each waiter costs the same, whatever the length of the queue.",
              ANY,
              List.of()),
          new HazardStory(
              "late-command",
              "A request that its sender gave up arrives all the same, and locks for nobody",
              "antirez/redlock-rb#3; P. Bailis and K. Kingsbury, The Network is Reliable, 2014",
              "redis-server",
              "The server stands still, the client gives up, and the late SET takes the lock. It stays shut until it expires,"
                  + " and nobody holds it.",
              "A request that comes too late grants nothing. The next process gets the lock at once.",
              ANY,
              List.of("slow-network")),
          new HazardStory(
              "etcd-lease-revoked",
              "A leader of etcd that stood still goes on, and ends leases that were kept alive",
              "etcd issues 12528 and 15247; K. Kingsbury, Jepsen: etcd 3.4.3, 2020",
              "etcd",
              "Another leader keeps the lease alive. The former one goes on, finds the lease over and has it revoked: the lock is"
                  + " free while its holder works.",
              "Locks hang on sessions of Mortise and not on leases of etcd. The former leader finds nothing that could be over.",
              Set.of("etcd"),
              List.of("partition-servers")),
          new HazardStory(
              "etcd-late-write",
              "A write that was given up is executed when a leader of etcd goes on",
              "P. Bailis and K. Kingsbury, The Network is Reliable, 2014",
              "etcd",
              "The late write takes the lock for a client that has gone. It stays shut until its lease ends.",
              "The client takes its request back by a write. The late request compares a revision that is not there any more, and"
                  + " grants nothing.",
              Set.of("etcd"),
              List.of("slow-network")),
          new HazardStory(
              "memcached-full",
              "A full memcached refuses a request for a lock, and deletes the lock with that",
              "memcached 1.6, proto_text.c, \"Avoid stale data persisting in cache because we failed alloc\"",
              "memcached",
              "Another process asks for the lock by ms in mode add. There is no memory, and the server deletes the item that is"
                  + " there: the lock is free while its holder works.",
              "A lock is added by a command that leaves the item alone, and extended by a touch. The refused request changes"
                  + " nothing.",
              Set.of("memcached"),
              List.of("lost-data")));

  /** All stories, in the best order for reading. */
  public static List<HazardStory> all() {
    return ALL;
  }

  /** The story of that name. */
  public static Optional<HazardStory> find(String name) {
    return ALL.stream().filter(story -> story.name().equals(name)).findFirst();
  }

  /** Lines for a terminal. */
  public List<String> text(GuaranteeTable table) {
    List<String> lines = new ArrayList<>();
    lines.add(name + ": " + title);
    lines.add("");
    lines.addAll(GuaranteeFormatter.hanging("naive lock", naive));
    lines.addAll(GuaranteeFormatter.hanging("Mortise", mortise));
    if (!faults.isEmpty()) {
      List<String> titles = faults.stream().map(fault -> table.fault(fault).title()).toList();
      lines.addAll(GuaranteeFormatter.hanging("fault", String.join(", ", titles)));
    }
    lines.addAll(GuaranteeFormatter.hanging("told by", source));
    lines.addAll(GuaranteeFormatter.hanging("needs", needs));
    return lines;
  }

  /**
   * Whether the hazard affects the store of a mode: the store is listed, and one of the faults
   * occurs there.
   */
  boolean concerns(GuaranteeTable table, StoreMode mode) {
    return (stores.isEmpty() || stores.contains(mode.store()))
        && (faults.isEmpty()
            || faults.stream()
                .map(fault -> table.cell(mode.id(), fault))
                .anyMatch(cell -> cell.answer() != GuaranteeLevel.NONE));
  }

  /**
   * For programs.
   *
   * @param here the mode of the observed store; null if unknown
   */
  public Map<String, @Nullable Object> json(GuaranteeTable table, @Nullable StoreMode here) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("title", title);
    json.put("source", source);
    json.put("needs", needs);
    json.put("naive", naive);
    json.put("mortise", mortise);
    json.put("concerns", here == null ? null : concerns(table, here));
    json.put("faults", faults.stream().map(fault -> fault(table, here, fault)).toList());
    return json;
  }

  private static Map<String, @Nullable Object> fault(
      GuaranteeTable table, @Nullable StoreMode here, String id) {
    Fault fault = table.fault(id);
    Guarantee cell = here == null ? null : table.cell(here.id(), id);
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("id", id);
    json.put("title", fault.title());
    json.put("answer", cell == null ? null : cell.answer().name().toLowerCase(Locale.ROOT));
    json.put("words", cell == null ? null : cell.answer().words());
    return json;
  }
}
