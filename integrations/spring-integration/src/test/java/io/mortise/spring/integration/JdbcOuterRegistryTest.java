package io.mortise.spring.integration;

import java.sql.Timestamp;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

class JdbcOuterRegistryTest extends OuterRegistryContract {
  private DriverManagerDataSource database;

  @BeforeEach
  void createTable() {
    database =
        new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    new JdbcTemplate(database).execute(JdbcLockRegistryTest.TABLE);
  }

  @Override
  Supplier<RenewableLockRegistry<?>> process(Duration timeToLive) {
    DefaultLockRepository repository = new DefaultLockRepository(database);
    repository.setTransactionManager(new JdbcTransactionManager(database));
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    return () -> new JdbcLockRegistry(repository, timeToLive);
  }

  @Override
  void expire(String key) {
    new JdbcTemplate(database).update("delete from int_lock");
  }

  @Override
  long end(String key) {
    return new JdbcTemplate(database)
        .queryForObject("select max(expired_after) from int_lock", Timestamp.class)
        .getTime();
  }
}
