package io.mortise.support.http;

import io.mortise.support.http.HttpServers.HttpRequest;
import io.mortise.support.http.HttpServers.HttpResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request and its answer. Completed by the thread that reads its connection. The connection is
 * unusable if the exchange is cancelled, or fails in another way.
 */
final class HttpExchange extends CompletableFuture<HttpResponse> {
  /**
   * An answer that may exceed a document has a sixteenth of the heap at most: up to four copies
   * exist while it is read.
   */
  private static final long MOST_BYTES =
      Math.max(HttpRequest.MAX_DOCUMENT_BYTES, Runtime.getRuntime().maxMemory() / 16);

  private final HttpRequest request;
  private final Duration limit;
  private final @Nullable Consumer<String> lines;

  /** The time of its last sending. Set before its connection gets it. */
  private long since;

  private volatile @Nullable HttpConnection connection;

  /** Completes when the exchange begins, or is given up. */
  final CompletableFuture<Void> begun = new CompletableFuture<>();

  /** Whether it is one of the exchanges whose number is limited. Used by the owning thread only. */
  boolean hasTurn;

  /**
   * An exchange that is not sent yet.
   *
   * @param limit the time from the request to the end of the answer's headers; the body has the
   *     same time again
   * @param lines receives the lines of the answer on the reading thread; null to read it as a whole
   */
  HttpExchange(HttpRequest request, Duration limit, @Nullable Consumer<String> lines) {
    this.request = request;
    this.limit = limit;
    this.lines = lines;
    var unused =
        whenComplete(
            (answer, failure) -> {
              HttpConnection last = connection;
              if (failure != null && last != null) {
                last.kill();
              }
            });
  }

  /** Fails after a time, unless a step of it has completed by then. */
  void giveUpUnless(CompletableFuture<Void> step, Duration wait, Supplier<Exception> failure) {
    CompletableFuture<?> unused =
        step.orTimeout(wait.toMillis(), TimeUnit.MILLISECONDS)
            .whenComplete(
                (none, late) -> {
                  if (late != null) {
                    completeExceptionally(failure.get());
                  }
                });
    // Ends the timer.
    unused = whenComplete((response, failed) -> step.complete(null));
  }

  /** For TLS, where one read is many reads of the socket below, each with the whole timeout. */
  void endInTime() {
    var unused = orTimeout(limit.multipliedBy(2).toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Starts its turn; returns false if it was given up before. */
  boolean begins() {
    hasTurn = begun.complete(null) && !isDone();
    return hasTurn;
  }

  /** Assigns it to a connection. */
  void movesTo(HttpConnection next, long now) {
    since = now;
    connection = next;
    if (isDone()) {
      // It was given up meanwhile.
      next.kill();
    }
  }

  byte[] request(String host) {
    return request.bytes(host);
  }

  /** The maximum length of the answer. */
  static long mostBytes(HttpRequest request) {
    return Math.min(request.maxAnswerBytes(), MOST_BYTES);
  }

  /**
   * Reads the answer, and completes. Blocks.
   *
   * @return whether the connection can be used again
   */
  boolean readAnswer(HttpConnection from) throws IOException {
    long headUntil = since + limit.toNanos();
    HttpReader.AnswerHead head = from.reader(headUntil).readHead();
    HttpReader reader = from.reader(headUntil + limit.toNanos());
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    long most = mostBytes(request);
    OutputStream to = lines == null ? body : new LineSplitter(body, lines, most);
    boolean mayFollow;
    try {
      mayFollow = reader.readBody(head, to, lines == null ? most : Long.MAX_VALUE);
    } catch (SocketTimeoutException e) {
      completeExceptionally(new TimeoutException(e.getMessage()));
      throw e;
    }
    HttpResponse answer =
        new HttpResponse(
            from.route(), head.status(), head.headers(), body.toString(StandardCharsets.UTF_8));
    return complete(answer) && mayFollow;
  }

  /** Passes lines to the consumer. Text behind the last line end is no line yet. */
  private static final class LineSplitter extends OutputStream {
    private final ByteArrayOutputStream line;
    private final Consumer<String> lines;
    private final long most;

    LineSplitter(ByteArrayOutputStream line, Consumer<String> lines, long most) {
      this.line = line;
      this.lines = lines;
      this.most = most;
    }

    @Override
    public void write(int next) throws ProtocolException {
      if (next != '\n') {
        line.write(next);
      } else {
        lines.accept(line.toString(StandardCharsets.UTF_8));
        line.reset();
      }
      if (line.size() > most) {
        throw new ProtocolException(
            "a line of the answer is too long: more than " + most + " bytes");
      }
    }
  }
}
