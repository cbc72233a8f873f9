package io.mortise.bench.subject;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Lock;
import io.mortise.bench.subject.Subjects.StoreKind;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The lock service of etcd by jetcd. A lease of its own for each handle, since two threads with one
 * lease would hold at one time; of an hour, without renewal.
 */
final class JetcdLocks implements Subject {
  private static final long LEASE_SECONDS = 3_600;
  private static final long ANSWER_SECONDS = 10;
  private static final ByteSequence NOTHING = ByteSequence.EMPTY;

  private final Client client;
  private final Lock locks;

  JetcdLocks(StoreUrls storeUrls) {
    client = Client.builder().endpoints("http://" + storeUrls.address(StoreKind.ETCD)).build();
    locks = client.getLockClient();
  }

  @Override
  public LockHandle lockHandle(String lock) throws Exception {
    long lease =
        client.getLeaseClient().grant(LEASE_SECONDS).get(ANSWER_SECONDS, TimeUnit.SECONDS).getID();
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
