package io.mortise.bench.subject;

import com.zaxxer.hikari.HikariDataSource;
import io.mortise.bench.subject.Subjects.SubjectStore;
import java.sql.SQLException;
import java.time.Duration;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** Spring Integration's JdbcLockRegistry with its defaults, over a pool. */
final class SpringJdbcLocks implements Subject {
  private final HikariDataSource pool;
  private final JdbcLockRegistry registry;

  SpringJdbcLocks(StoreUrls storeUrls, SubjectStore storeKind) throws SQLException {
    BenchDatabase benchDatabase = new BenchDatabase(storeUrls, storeKind).prepare();
    pool = benchDatabase.pool();
    DefaultLockRepository repository = new DefaultLockRepository(pool);
    repository.setTransactionManager(new DataSourceTransactionManager(pool));
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    repository.start();
    registry = new JdbcLockRegistry(repository, Duration.ofSeconds(30));
  }

  @Override
  public LockHandle lockHandle(String lock) {
    return InProcessLock.lockHandle(registry.obtain(lock));
  }

  @Override
  public void close() {
    pool.close();
  }
}
