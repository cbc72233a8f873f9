package io.mortise.console.view;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.spi.AttemptId;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds each {@code mortise run} inside the command of another one. The outer run gives its process
 * id to its command in {@link #VARIABLE}. The inner run reads it there and names its client {@code
 * mortise in PID}, which stores show.
 */
public final class NestedRuns {
  /** The environment variable with the process id of the {@code mortise run} around a command. */
  public static final String VARIABLE = "MORTISE_PID";

  /** The name of the tool's client. */
  private static final String TOOL = "mortise";

  private static final String INSIDE = TOOL + " in ";

  /** The deepest nesting: names are chosen by clients, so they may form a ring. */
  private static final int DEEPEST = 20;

  /** For the session of an inner run: the session of the outermost run around it. */
  private final Map<String, String> outermost;

  /** Finds nested runs among the holders and waiters of these locks. */
  NestedRuns(Collection<LockInfo> locks) {
    Map<String, LockParticipant> parties = new LinkedHashMap<>();
    for (LockInfo lock : locks) {
      lock.holders().forEach(party -> parties.putIfAbsent(session(party), party));
      lock.waiters().forEach(party -> parties.putIfAbsent(session(party), party));
    }
    this.outermost = outermost(outer(parties));
  }

  /**
   * Returns the name of the tool's client.
   *
   * @param variables of its environment
   */
  public static String clientName(Map<String, String> variables) {
    String outer = variables.get(VARIABLE);
    return outer != null && outer.matches("\\d{1,18}") ? INSIDE + outer : TOOL;
  }

  /** The process of the run around a client, as {@code host:pid}; null if there is none. */
  private static @Nullable String outerProcess(@Nullable ClientInfo client) {
    return client != null && client.name().startsWith(INSIDE)
        ? client.host() + ":" + client.name().substring(INSIDE.length())
        : null;
  }

  /** For the session of an inner run: the session of the run directly around it. */
  private static Map<String, String> outer(Map<String, LockParticipant> parties) {
    Map<String, String> byProcess = new HashMap<>();
    Set<String> ambiguous = new HashSet<>();
    parties.forEach(
        (session, party) -> {
          ClientInfo client = party.client();
          if (client != null && client.pid() != 0) {
            String process = client.host() + ":" + client.pid();
            if (byProcess.put(process, session) != null) {
              ambiguous.add(process);
            }
          }
        });
    // Containers may share a host name, with each tool as process 1: then no nesting is certain.
    byProcess.keySet().removeAll(ambiguous);
    Map<String, String> outer = new HashMap<>();
    parties.forEach(
        (session, party) -> {
          String process = outerProcess(party.client());
          String around = process == null ? null : byProcess.get(process);
          if (around != null) {
            outer.put(session, around);
          }
        });
    return outer;
  }

  private static Map<String, String> outermost(Map<String, String> outer) {
    Map<String, String> outermost = new HashMap<>();
    for (String session : outer.keySet()) {
      String at = session;
      for (int depth = 0; depth < DEEPEST && outer.containsKey(at); depth++) {
        at = outer.get(at);
      }
      outermost.put(session, at);
    }
    return outermost;
  }

  /** The session of a party; for a nested run that of the outermost one. */
  String outermostSession(LockParticipant party) {
    String session = session(party);
    return outermost.getOrDefault(session, session);
  }

  private static String session(LockParticipant party) {
    return AttemptId.parse(party.attempt()).session().value();
  }
}
