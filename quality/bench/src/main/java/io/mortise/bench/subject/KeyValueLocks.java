package io.mortise.bench.subject;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lock;
import io.mortise.bench.subject.Subjects.SubjectStore;
import io.nats.client.Connection;
import io.nats.client.KeyValue;
import io.nats.client.Nats;
import io.nats.client.api.KeyValueConfiguration;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Subjects on etcd, Consul, NATS, memcached and DynamoDB. */
final class KeyValueLocks {
  private KeyValueLocks() {}

  /** Requests to Consul's HTTP API, by hand. */
  static final class ConsulRequests {
    private final HttpClient client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String base;

    ConsulRequests(StoreUrls storeUrls) {
      base = "http://" + storeUrls.address(SubjectStore.CONSUL);
    }

    String put(String path, String body) throws IOException, InterruptedException {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(base + path))
              .PUT(BodyPublishers.ofString(body))
              .build();
      HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
      if (answer.statusCode() / 100 == 5) {
        throw new IOException("Consul: " + answer.body());
      }
      return answer.body();
    }

    HttpResponse<String> get(String path, Duration timeout)
        throws IOException, InterruptedException {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(base + path)).timeout(timeout).GET().build();
      return client.send(request, BodyHandlers.ofString());
    }
  }

  /**
   * Two conditional writes of an entry of Consul, written by hand: each replaces the value if the
   * entry has the index of the previous write. The limit for an uncontended pair; useless under
   * contention.
   */
  static final class ConsulEntryLock implements Subject {
    private static final Pattern INDEX = Pattern.compile("\"ModifyIndex\":(\\d+)");

    private final ConsulRequests consul;

    ConsulEntryLock(StoreUrls storeUrls) {
      consul = new ConsulRequests(storeUrls);
    }

    private String write(String lock, String value, String index)
        throws IOException, InterruptedException {
      String condition = index.isEmpty() ? "\"set\"" : "\"cas\",\"Index\":" + index;
      String encoded = Base64.getEncoder().encodeToString(value.getBytes(UTF_8));
      String answer =
          consul.put(
              "/v1/txn",
              "[{\"KV\":{\"Verb\":%s,\"Key\":\"raw/%s\",\"Value\":\"%s\"}}]"
                  .formatted(condition, lock, encoded));
      Matcher found = INDEX.matcher(answer);
      if (!found.find()) {
        throw new IOException("Consul refused a write: " + answer);
      }
      return found.group(1);
    }

    @Override
    public LockHandle lockHandle(String lock) throws Exception {
      String first = write(lock, "free", "");
      return new LockHandle() {
        private String index = first;

        @Override
        public boolean take(long waitMillis) throws Exception {
          index = write(lock, "held", index);
          return true;
        }

        @Override
        public void release() throws Exception {
          index = write(lock, "free", index);
        }
      };
    }

    /** Idle connections end when the client is collected. */
    @Override
    public void close() {}
  }

  /**
   * The recipe of Consul's manual: a session acquires and releases an entry, and waits for another
   * holder by a blocking query. Each handle has a session of an hour, without renewal.
   */
  static final class ConsulSessionLock implements Subject {
    private static final Pattern ID = Pattern.compile("\"ID\":\\s*\"([^\"]+)\"");

    private final ConsulRequests consul;

    ConsulSessionLock(StoreUrls storeUrls) {
      consul = new ConsulRequests(storeUrls);
    }

    @Override
    public LockHandle lockHandle(String lock) throws Exception {
      String made = consul.put("/v1/session/create", "{\"TTL\":\"3600s\",\"LockDelay\":\"0s\"}");
      Matcher found = ID.matcher(made);
      if (!found.find()) {
        throw new IOException("Consul made no session: " + made);
      }
      String session = found.group(1);
      String path = "/v1/kv/session/" + lock;
      return new LockHandle() {
        @Override
        public boolean take(long waitMillis) throws Exception {
          long until = System.nanoTime() + waitMillis * 1_000_000;
          String index = "0";
          while (!ask("acquire")) {
            long left = (until - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
              return false;
            }
            index = awaitFree(index, left);
          }
          return true;
        }

        private boolean ask(String what) throws IOException, InterruptedException {
          return consul.put(path + "?" + what + "=" + session, "held").startsWith("true");
        }

        /** Waits until no session has the entry, or the time is over; returns the entry's index. */
        private String awaitFree(String seen, long millis)
            throws IOException, InterruptedException {
          String index = seen;
          long until = System.nanoTime() + millis * 1_000_000;
          while (System.nanoTime() < until) {
            HttpResponse<String> answer =
                consul.get(
                    path + "?wait=" + millis + "ms&index=" + index,
                    Duration.ofMillis(millis).plusSeconds(10));
            index = answer.headers().firstValue("X-Consul-Index").orElse("0");
            if (!answer.body().contains("\"Session\"")) {
              return index;
            }
          }
          return index;
        }

        @Override
        public void release() throws Exception {
          if (!ask("release")) {
            throw new IllegalStateException("Lock '" + lock + "' was no longer held.");
          }
        }
      };
    }

    /** Idle connections end when the client is collected. */
    @Override
    public void close() {}
  }

  /**
   * Two transactions of etcd, written by hand over its JSON gateway: a key is created if absent,
   * and removed if it has the revision of its creation. The limit for an uncontended pair.
   */
  static final class EtcdTransactionLock implements Subject {
    private static final Pattern REVISION = Pattern.compile("\"revision\":\"(\\d+)\"");

    private final HttpClient client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI transactions;

    EtcdTransactionLock(StoreUrls storeUrls) {
      transactions = URI.create("http://" + storeUrls.address(SubjectStore.ETCD) + "/v3/kv/txn");
    }

    private static String base64(String text) {
      return '"' + Base64.getEncoder().encodeToString(text.getBytes(UTF_8)) + '"';
    }

    private String ask(String transaction) throws IOException, InterruptedException {
      HttpRequest request =
          HttpRequest.newBuilder(transactions).POST(BodyPublishers.ofString(transaction)).build();
      return client.send(request, BodyHandlers.ofString()).body();
    }

    @Override
    public LockHandle lockHandle(String lock) {
      String key = base64("raw/" + lock);
      String made =
          "{\"compare\":[{\"key\":%s,\"target\":\"CREATE\",\"create_revision\":\"0\"}],\"success\":[{\"requestPut\":{\"key\":%s,\"value\":%s}}]}"
              .formatted(key, key, base64(UUID.randomUUID().toString()));
      String removed =
          "{\"compare\":[{\"key\":%s,\"target\":\"CREATE\",\"create_revision\":\"REVISION\"}],\"success\":[{\"requestDeleteRange\":{\"key\":%s}}]}"
              .formatted(key, key);
      return new LockHandle() {
        private String revision = "";

        @Override
        public boolean take(long waitMillis) throws Exception {
          String answer = ask(made);
          Matcher found = REVISION.matcher(answer);
          revision = found.find() ? found.group(1) : "";
          return isMade(answer);
        }

        @Override
        public void release() throws Exception {
          if (!isMade(ask(removed.replace("REVISION", revision)))) {
            throw new IllegalStateException("The key was not there any more.");
          }
        }
      };
    }

    private static boolean isMade(String answer) {
      return answer.contains("\"succeeded\":true");
    }

    /** Idle connections end when the client is collected. */
    @Override
    public void close() {}
  }

  /**
   * The lock service of etcd by jetcd. Each handle has a lease of an hour, without renewal: two
   * threads with one lease would both hold the lock.
   */
  static final class JetcdLocks implements Subject {
    private static final long LEASE_SECONDS = 3_600;
    private static final long ANSWER_SECONDS = 10;
    private static final ByteSequence NOTHING = ByteSequence.EMPTY;

    private final Client client;
    private final Lock locks;

    JetcdLocks(StoreUrls storeUrls) {
      client = Client.builder().endpoints("http://" + storeUrls.address(SubjectStore.ETCD)).build();
      locks = client.getLockClient();
    }

    @Override
    public LockHandle lockHandle(String lock) throws Exception {
      long lease =
          client
              .getLeaseClient()
              .grant(LEASE_SECONDS)
              .get(ANSWER_SECONDS, TimeUnit.SECONDS)
              .getID();
      ByteSequence name = ByteSequence.from("jetcd/" + lock, UTF_8);
      return new LockHandle() {
        private ByteSequence key = NOTHING;

        @Override
        public boolean take(long waitMillis) throws ExecutionException, InterruptedException {
          try {
            key = locks.lock(name, lease).get(waitMillis, TimeUnit.MILLISECONDS).getKey();
            return true;
          } catch (TimeoutException e) {
            return false;
          }
        }

        @Override
        public void release() throws Exception {
          locks.unlock(key).get(ANSWER_SECONDS, TimeUnit.SECONDS);
        }
      };
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /**
   * Two meta commands of memcached, written by hand over a blocking socket for each thread: an item
   * is added, and deleted if it is still that one. No renewal; where the memory is full, it may
   * delete another's item.
   */
  static final class MemcachedItemLock implements Subject {
    private final String host;
    private final int port;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    MemcachedItemLock(StoreUrls storeUrls) {
      URI server = URI.create("http://" + storeUrls.address(SubjectStore.MEMCACHED));
      host = server.getHost();
      port = server.getPort();
    }

    @Override
    public LockHandle lockHandle(String lock) throws IOException {
      Socket socket = new Socket(host, port);
      socket.setTcpNoDelay(true);
      open.add(socket);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      String value = UUID.randomUUID().toString();
      byte[] add =
          "ms raw/%s %s T30 ME c\r\n%s\r\n".formatted(lock, value.length(), value).getBytes(UTF_8);
      String delete = "md raw/" + lock + " C";
      return new LockHandle() {
        private String cas = "";

        private String ask(byte[] command) throws IOException {
          socket.getOutputStream().write(command);
          StringBuilder line = new StringBuilder();
          for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
              throw new IOException("Memcached closed the connection.");
            }
            line.append((char) c);
          }
          return line.toString().trim();
        }

        @Override
        public boolean take(long waitMillis) throws IOException {
          String answer = ask(add);
          if (!answer.startsWith("HD c")) {
            return false;
          }
          cas = answer.substring("HD c".length());
          return true;
        }

        @Override
        public void release() throws IOException {
          String answer = ask((delete + cas + "\r\n").getBytes(UTF_8));
          if (!answer.startsWith("HD")) {
            throw new IllegalStateException("Lock '" + lock + "' was no longer held: " + answer);
          }
        }
      };
    }

    @Override
    public void close() {
      for (Socket socket : open) {
        try {
          socket.close();
        } catch (IOException e) {
          // The connection is broken.
        }
      }
    }
  }

  /**
   * Two updates of an item of DynamoDB, written by hand: each requires the version of the previous
   * update. The limit for an uncontended pair; useless under contention.
   */
  static final class DynamoDbUpdateLock implements Subject {
    private final DynamoDbClient client;

    DynamoDbUpdateLock(StoreUrls storeUrls) {
      client = ShedLockLocks.dynamoDbClient(storeUrls);
    }

    @Override
    public LockHandle lockHandle(String lock) {
      AttributeValue name = AttributeValue.fromS("raw/" + lock);
      client.putItem(
          put ->
              put.tableName(ShedLockLocks.DYNAMODB_TABLE)
                  .item(Map.of("_id", name, "version", version(0))));
      return new LockHandle() {
        private long version;

        private void update() {
          client.updateItem(
              update ->
                  update
                      .tableName(ShedLockLocks.DYNAMODB_TABLE)
                      .key(Map.of("_id", name))
                      .updateExpression("SET version = :next")
                      .conditionExpression("version = :found")
                      .expressionAttributeValues(
                          Map.of(":found", version(version), ":next", version(version + 1))));
          version++;
        }

        @Override
        public boolean take(long waitMillis) {
          update();
          return true;
        }

        @Override
        public void release() {
          update();
        }
      };
    }

    private static AttributeValue version(long version) {
      return AttributeValue.fromN(Long.toString(version));
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /**
   * Two updates of a key of NATS, written by hand: each requires the revision of the previous
   * update. The limit for an uncontended pair; useless under contention.
   */
  static final class NatsUpdateLock implements Subject {
    private static final byte[] FREE = "free".getBytes(UTF_8);
    private static final byte[] HELD = "held".getBytes(UTF_8);

    private final Connection connection;
    private final KeyValue bucket;

    NatsUpdateLock(StoreUrls storeUrls) throws Exception {
      connection = Nats.connect(storeUrls.url(SubjectStore.NATS));
      connection
          .keyValueManagement()
          .create(KeyValueConfiguration.builder().name("bench-raw").build());
      bucket = connection.keyValue("bench-raw");
    }

    @Override
    public LockHandle lockHandle(String lock) throws Exception {
      long first = bucket.put(lock, FREE);
      return new LockHandle() {
        private long revision = first;

        @Override
        public boolean take(long waitMillis) throws Exception {
          revision = bucket.update(lock, HELD, revision);
          return true;
        }

        @Override
        public void release() throws Exception {
          revision = bucket.update(lock, FREE, revision);
        }
      };
    }

    @Override
    public void close() {
      try {
        connection.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
