package io.mortise.bench.subject;

import com.zaxxer.hikari.HikariDataSource;
import io.mortise.bench.subject.Subjects.Place;
import java.sql.SQLException;
import java.time.Duration;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** Spring Integration's JdbcLockRegistry as it comes, over a pool. */
final class SpringRows implements Subject {
  private final HikariDataSource pool;
  private final JdbcLockRegistry registry;

  SpringRows(Stores stores, Place place) throws SQLException {
    Database database = new Database(stores, place).prepare();
    pool = database.pool();
    DefaultLockRepository repository = new DefaultLockRepository(pool);
    repository.setTransactionManager(new DataSourceTransactionManager(pool));
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    repository.start();
    registry = new JdbcLockRegistry(repository, Duration.ofSeconds(30));
  }

  @Override
  public Grip grip(String lock) {
    return InProcess.grip(registry.obtain(lock));
  }

  @Override
  public void close() {
    pool.close();
  }
}
