package io.mortise.spring.boot;

import com.zaxxer.hikari.HikariDataSource;
import io.mortise.LockClient;
import io.mortise.OuterLocks;
import io.mortise.Store;
import io.mortise.event.LockListener;
import io.mortise.jdbc.JdbcStore;
import io.mortise.redis.RedisOptions;
import io.mortise.redis.lettuce.LettuceStore;
import io.mortise.spi.LockStore;
import io.mortise.spring.EnableMortise;
import io.mortise.spring.boot.MortiseProperties.StoreKind;
import io.mortise.zookeeper.ZooKeeperOptions;
import io.mortise.zookeeper.ZooKeeperStore;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Enables {@code @Locked}, and creates a {@link LockClient} unless the application has one. Its
 * store is a bean of type {@link Store}, else that of {@link MortiseConnectionDetails}, else that
 * of {@code mortise.url}, else one over the only bean among {@code DataSource}, {@code
 * LettuceConnectionFactory} and {@code CuratorFramework} whose artifact of Mortise is present.
 * Listener beans receive the events of its locks.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
      "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
      "org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration"
    })
@EnableMortise
@EnableConfigurationProperties(MortiseProperties.class)
public final class MortiseAutoConfiguration {
  /** For Spring. */
  public MortiseAutoConfiguration() {}

  /** The client, unless the application has one. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingBean(LockClient.class)
  static class Client {
    /**
     * Injected beans outlive the bean that receives them. Those of an {@code Optional} or {@code
     * ObjectProvider} do so only from Framework 7 on, whose null marker Framework 6.2 does not
     * know.
     */
    @Bean
    LockClientOpener mortiseLockClientOpener(
        MortiseProperties properties,
        Environment environment,
        @org.springframework.lang.Nullable @Nullable Store supplied,
        @org.springframework.lang.Nullable @Nullable MortiseConnectionDetails details,
        @org.springframework.lang.Nullable @Nullable List<StoreCandidate> candidates,
        @org.springframework.lang.Nullable @Nullable List<LockListener> listeners,
        @org.springframework.lang.Nullable @Nullable OuterLocks outer,
        ListableBeanFactory beans) {
      return new LockClientOpener(
          properties,
          applicationName(environment, beans),
          supplied,
          details,
          candidates == null ? List.of() : candidates,
          () -> MissingArtifact.sentences(beans),
          listeners == null ? List.of() : listeners,
          outer);
    }

    /** Without a name, people see that of the class with {@code @SpringBootApplication}. */
    private static String applicationName(Environment environment, ListableBeanFactory beans) {
      String name = environment.getProperty("spring.application.name", "");
      return !name.isBlank()
          ? name
          : Arrays.stream(beans.getBeanNamesForAnnotation(SpringBootConfiguration.class))
              .map(beans::getType)
              .filter(Objects::nonNull)
              .map(type -> ClassUtils.getUserClass(type).getSimpleName())
              .findFirst()
              .orElse("");
    }

    /**
     * Created after the migrations of the database, as Flyway refuses a database that has tables
     * already.
     */
    @Bean
    @DependsOnDatabaseInitialization
    LockClient mortiseLockClient(LockClientOpener mortiseLockClientOpener) {
      return mortiseLockClientOpener.open();
    }
  }

  /** A store in the database of the application. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({JdbcStore.class, DataSource.class})
  @ConditionalOnSingleCandidate(DataSource.class)
  static class JdbcConfiguration {
    /** The store keeps three connections; the application needs some as well. */
    private static final int SMALLEST_POOL = 5;

    @Bean
    StoreCandidate mortiseJdbcStoreCandidate(DataSource dataSource) {
      return new StoreCandidate(
          StoreKind.JDBC, "the DataSource", properties -> open(dataSource, properties));
    }

    private static LockStore open(DataSource dataSource, MortiseProperties properties) {
      if (ClassUtils.isPresent(
          "com.zaxxer.hikari.HikariDataSource", JdbcConfiguration.class.getClassLoader())) {
        Hikari.checkSize(dataSource);
      }
      String parameters = properties.jdbc().parameters();
      String namespace = properties.namespace();
      if (namespace != null) {
        parameters = "namespace=" + namespace + (parameters.isEmpty() ? "" : "&" + parameters);
      }
      return JdbcStore.over(dataSource, parameters);
    }

    /** Loaded only with HikariCP. */
    private static final class Hikari {
      private Hikari() {}

      static void checkSize(DataSource dataSource) {
        int size;
        try {
          if (!dataSource.isWrapperFor(HikariDataSource.class)) {
            return;
          }
          size = dataSource.unwrap(HikariDataSource.class).getMaximumPoolSize();
        } catch (SQLException e) {
          // A DataSource that does not reveal its type.
          return;
        }
        if (size < SMALLEST_POOL) {
          throw new LockStoreChoiceException(
              "The pool of the DataSource has "
                  + size
                  + " connections at most, and locks keep up to three of them.",
              "Set spring.datasource.hikari.maximum-pool-size to "
                  + SMALLEST_POOL
                  + " or more, or mortise.url, which needs no connections of the pool.");
        }
      }
    }
  }

  /** A store in the Redis of the application. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({LettuceStore.class, LettuceConnectionFactory.class})
  @ConditionalOnSingleCandidate(LettuceConnectionFactory.class)
  static class RedisConfiguration {
    @Bean
    StoreCandidate mortiseRedisStoreCandidate(LettuceClientSource clients) {
      return new StoreCandidate(
          StoreKind.REDIS, "the LettuceConnectionFactory", properties -> open(clients, properties));
    }

    @Bean
    LettuceClientSource mortiseLettuceClientSource(LettuceConnectionFactory factory) {
      return new LettuceClientSource(factory);
    }

    private static LockStore open(LettuceClientSource clients, MortiseProperties properties) {
      RedisOptions options = RedisOptions.DEFAULT;
      String namespace = properties.namespace();
      return LettuceStore.over(
          clients.open(), namespace == null ? options : options.withNamespace(namespace));
    }
  }

  /** A store in the ZooKeeper ensemble of the application. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({ZooKeeperStore.class, CuratorFramework.class})
  @ConditionalOnSingleCandidate(CuratorFramework.class)
  static class CuratorConfiguration {
    @Bean
    StoreCandidate mortiseZooKeeperStoreCandidate(CuratorFramework curator) {
      return new StoreCandidate(
          StoreKind.ZOOKEEPER, "the CuratorFramework", properties -> open(curator, properties));
    }

    private static LockStore open(CuratorFramework curator, MortiseProperties properties) {
      ZooKeeperOptions options = ZooKeeperOptions.DEFAULT;
      String namespace = properties.namespace();
      Callable<ZooKeeper> clients = () -> curator.getZookeeperClient().getZooKeeper();
      return ZooKeeperStore.over(
          clients,
          namespace == null ? options : options.withRoot(options.root() + "/" + namespace));
    }
  }
}
