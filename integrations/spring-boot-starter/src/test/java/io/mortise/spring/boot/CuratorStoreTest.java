package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testserver.ZooKeeperServer;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;

/** A store over a Curator client, which Spring Boot does not provide. */
class CuratorStoreTest {
  @Configuration(proxyBeanMethods = false)
  static class CuratorConfig {
    @Bean(initMethod = "start")
    CuratorFramework curator(Environment environment) {
      return CuratorFrameworkFactory.newClient(
          environment.getRequiredProperty("test.servers"), new RetryForever(100));
    }
  }

  @Test
  void givenCurator_whenStarted_thenLocksAreInItsEnsemble() {
    try (ZooKeeperServer server = ZooKeeperServer.start();
        LockClient other = LockClient.connect("zk://" + server.address() + "?namespace=billing")) {
      // Without other auto-configurations: health of two lines is on this class path.
      try (AnnotationConfigApplicationContext app = new AnnotationConfigApplicationContext()) {
        app.getEnvironment()
            .getPropertySources()
            .addFirst(
                new MapPropertySource(
                    "test",
                    Map.of("test.servers", server.address(), "mortise.namespace", "billing")));
        app.register(CuratorConfig.class, MortiseAutoConfiguration.class);
        app.refresh();
        Lease left = app.getBean(LockClient.class).lock("kept").tryAcquire().orElseThrow();
        assertThat(left.token()).isPositive();
        assertThat(other.lock("kept").tryAcquire()).isEmpty();
      }
      assertThat(other.lock("kept").tryAcquire()).isPresent();
    }
  }
}
