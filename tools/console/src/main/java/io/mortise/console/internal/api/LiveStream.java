package io.mortise.console.internal.api;

import io.mortise.console.internal.http.ConsoleRequest;
import io.mortise.console.internal.http.ConsoleResponse;
import io.mortise.console.internal.http.EventSink;
import io.mortise.console.internal.http.RefusedException;
import io.mortise.console.observer.ObservedEvent;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.view.JsonWriter;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Streams changes to one page while it listens. */
final class LiveStream implements ConsoleResponse.StreamBody {
  private static final int MOST_LOCKS = 16;
  private static final int EVENTS_AT_ONCE = 200;
  private static final int SPARING = 9;
  private static final Duration LOOK = Duration.ofMillis(300);
  private static final long STATUS = Duration.ofSeconds(1).toNanos();
  private static final long SILENCE = Duration.ofSeconds(10).toNanos();

  private final Observer observer;
  private final Ticker ticker;
  private final Supplier<Map<String, @Nullable Object>> status;
  private final List<String> names;
  private final @Nullable LockList list;
  private final boolean waits;
  private final boolean processes;
  private final Parameters everything;
  private final Map<String, String> sent = new HashMap<>();
  private final Map<String, String> lines = new HashMap<>();
  private final Set<String> alarms = new HashSet<>();
  private List<String> order = List.of();
  private long seq;
  private long statusAt;
  private long writtenAt;
  private long version = -1;
  private long changesAt;

  LiveStream(
      Observer observer,
      Ticker ticker,
      Supplier<Map<String, @Nullable Object>> status,
      ConsoleRequest request) {
    Parameters parameters = new Parameters(request);
    this.observer = observer;
    this.ticker = ticker;
    this.status = status;
    this.names = List.copyOf(parameters.all("lock"));
    if (names.size() > MOST_LOCKS) {
      throw RefusedException.badRequest("A stream shows " + MOST_LOCKS + " locks at most.");
    }
    names.forEach(ConsoleApi::checkName);
    List<String> query = parameters.all("list");
    this.list = query.isEmpty() ? null : new LockList(observer, request.withQuery(query.get(0)));
    this.waits = parameters.flag("waits");
    this.processes = parameters.flag("processes");
    this.everything = new Parameters(request.withQuery(""));
    this.seq = observer.events().last();
    String last = request.header("Last-Event-ID");
    if (last != null && last.matches("\\d{1,18}")) {
      this.seq = Long.parseLong(last);
    } else if (!parameters.text("since").isEmpty()) {
      this.seq = parameters.number("since", 0, 0, Long.MAX_VALUE);
    }
    if (seq > observer.events().last()) {
      this.seq = 0; // An id of an earlier console: all events of this one are new.
    }
  }

  @Override
  public void writeTo(EventSink sink) throws IOException, InterruptedException {
    writtenAt = ticker.nanos();
    statusAt = writtenAt - STATUS;
    changesAt = writtenAt;
    while (!Thread.currentThread().isInterrupted() && !sink.isOver()) {
      observer.watched();
      names.forEach(observer::watched);
      write(sink);
      Thread.sleep(LOOK.toMillis());
    }
  }

  private void write(EventSink sink) throws IOException {
    long now = ticker.nanos();
    if (now - statusAt >= STATUS) {
      statusAt = now;
      writeStatus(sink);
    }
    long current = observer.version();
    if (current != version && now >= changesAt) {
      version = current;
      writeChanges(sink);
      // Sorting a long list takes long: a page gets at most a tenth of a processor.
      changesAt = ticker.nanos() + SPARING * (ticker.nanos() - now);
    }
    if (ticker.nanos() - writtenAt >= SILENCE) {
      sink.comment();
      writtenAt = ticker.nanos();
    }
  }

  private void writeStatus(EventSink sink) throws IOException {
    Map<String, @Nullable Object> now = status.get();
    writeIfChanged(sink, "status", "status", now);
    Set<String> current = new HashSet<>();
    for (Object alarm : (List<?>) Objects.requireNonNull(now.get("alarms"))) {
      String key = ChangeKey.of(alarm, 0);
      current.add(key);
      if (!alarms.contains(key)) {
        write(sink, "alarm", null, alarm);
      }
    }
    alarms.clear();
    alarms.addAll(current);
  }

  private void writeChanges(EventSink sink) throws IOException {
    if (list != null) {
      writeList(sink, list.seen());
    }
    for (String name : names) {
      SeenLock seen = observer.lock(name);
      if (seen != null && seen.full()) {
        writeIfChanged(sink, "lock", "lock " + name, LockDetail.json(observer, seen));
      } else if (seen == null && observer.survey().complete()) {
        SeenLock free = SeenLock.free(name, observer.now(), 0);
        writeIfChanged(sink, "lock", "lock " + name, LockDetail.json(observer, free));
      }
    }
    if (waits) {
      writeIfChanged(sink, "waits", "waits", WaitsReport.json(observer));
    }
    if (processes) {
      writeIfChanged(sink, "processes", "processes", ProcessList.json(observer, everything));
    }
    List<ObservedEvent> events = observer.events().after(seq, event -> true, EVENTS_AT_ONCE);
    for (ObservedEvent event : events) {
      seq = event.seq();
      write(sink, "event", Long.toString(seq), EventList.json(observer, event));
    }
    if (events.size() == EVENTS_AT_ONCE) {
      version = -1;
    }
  }

  private void writeList(EventSink sink, Map<String, @Nullable Object> page) throws IOException {
    Map<String, Object> changed = new LinkedHashMap<>();
    Map<String, String> keys = new HashMap<>();
    List<String> shown = new ArrayList<>();
    for (Object line : (List<?>) Objects.requireNonNull(page.get("locks"))) {
      String name = String.valueOf(((Map<?, ?>) line).get("name"));
      String key = ChangeKey.of(line, 0);
      keys.put(name, key);
      shown.add(name);
      if (!key.equals(lines.get(name))) {
        changed.put(name, line);
      }
    }
    boolean first = !sent.containsKey("list");
    String head = page.get("total") + " " + page.get("complete");
    boolean same = shown.equals(order) && changed.isEmpty() && head.equals(sent.get("list"));
    lines.clear();
    lines.putAll(keys);
    order = shown;
    sent.put("list", head);
    if (first) {
      write(sink, "list", null, page);
    } else if (!same) {
      page.put("order", shown);
      page.put("locks", List.copyOf(changed.values()));
      write(sink, "change", null, page);
    }
  }

  private void writeIfChanged(
      EventSink sink, String event, String key, Map<String, @Nullable Object> json)
      throws IOException {
    String now = ChangeKey.of(json, 0);
    if (!now.equals(sent.put(key, now))) {
      write(sink, event, null, json);
    }
  }

  private void write(EventSink sink, String event, @Nullable String id, Object json)
      throws IOException {
    sink.event(event, id, JsonWriter.compact(json));
    writtenAt = ticker.nanos();
  }
}
