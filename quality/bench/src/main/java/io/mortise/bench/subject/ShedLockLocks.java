package io.mortise.bench.subject;

import com.zaxxer.hikari.HikariDataSource;
import io.mortise.bench.subject.Subjects.SubjectStore;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.dynamodb2.DynamoDBLockProvider;
import net.javacrumbs.shedlock.provider.dynamodb2.DynamoDBUtils;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughput;

/** ShedLock's providers, used directly. They try once and never wait, by design. */
final class ShedLockLocks implements Subject {
  private static final Duration LEASE = Duration.ofSeconds(30);

  static final String DYNAMODB_TABLE = "bench";

  private final LockProvider provider;
  private final Runnable end;

  private ShedLockLocks(LockProvider provider, Runnable end) {
    this.provider = provider;
    this.end = end;
  }

  static ShedLockLocks redis(StoreUrls storeUrls) {
    LettuceConnectionFactory connections = SpringRedisLocks.connections(storeUrls);
    return new ShedLockLocks(new RedisLockProvider(connections, "bench"), connections::destroy);
  }

  /** Uses the database time and a pool. */
  static ShedLockLocks jdbc(StoreUrls storeUrls, SubjectStore storeKind) throws SQLException {
    HikariDataSource pool = new BenchDatabase(storeUrls, storeKind).prepare().pool();
    return new ShedLockLocks(
        new JdbcTemplateLockProvider(
            JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build()),
        pool::close);
  }

  static ShedLockLocks dynamoDb(StoreUrls storeUrls) {
    DynamoDbClient client = dynamoDbClient(storeUrls);
    return new ShedLockLocks(new DynamoDBLockProvider(client, DYNAMODB_TABLE), client::close);
  }

  /** Returns a client for the endpoint of a URL, creating the table if absent. */
  static DynamoDbClient dynamoDbClient(StoreUrls storeUrls) {
    DynamoDbClient client =
        DynamoDbClient.builder()
            .httpClientBuilder(UrlConnectionHttpClient.builder())
            .region(Region.US_EAST_1)
            .endpointOverride(URI.create("http://" + storeUrls.address(SubjectStore.DYNAMODB)))
            .build();
    if (!client.listTables().tableNames().contains(DYNAMODB_TABLE)) {
      DynamoDBUtils.createLockTable(
          client,
          DYNAMODB_TABLE,
          ProvisionedThroughput.builder().readCapacityUnits(1L).writeCapacityUnits(1L).build());
    }
    return client;
  }

  @Override
  public LockHandle lockHandle(String name) {
    return new LockHandle() {
      private @Nullable SimpleLock held;

      @Override
      public boolean take(long waitMillis) {
        held =
            provider
                .lock(new LockConfiguration(Instant.now(), name, LEASE, Duration.ZERO))
                .orElse(null);
        return held != null;
      }

      @Override
      public void release() {
        SimpleLock lock = held;
        if (lock != null) {
          lock.unlock();
        }
      }
    };
  }

  @Override
  public void close() {
    end.run();
  }
}
