package io.mortise.spring;

import io.mortise.LockClient;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.Lifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.scheduling.TaskScheduler;

/**
 * The beans behind {@link EnableMortise}. Methods are static and take no bean of the user's, so
 * that none is created early.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class LockedConfiguration {
  private static final String TRANSACTION_ADVISOR = "mortiseLockedTransactionAdvisor";

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedMethods mortiseLockedMethods(
      ConfigurableListableBeanFactory beans, Environment environment) {
    return new LockedMethods(new LockedMethodParser(beans, environment));
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedAdvisor mortiseLockedAdvisor(LockedMethods methods, Environment environment) {
    return LockedAdvisor.outside(
        methods,
        environment.getProperty(
            "mortise.locked.order", Integer.class, LockedAdvisor.OUTSIDE_OF_TRANSACTIONS));
  }

  /**
   * Registers the advisor behind that of transactions, once all configurations have registered
   * theirs: advisors of equal order keep the order of their registration.
   */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static BeanDefinitionRegistryPostProcessor mortiseTransactionAdvisorRegistrar() {
    return registry -> {
      if (LockedMethodParser.HAS_REACTIVE_TRANSACTIONS
          && !registry.containsBeanDefinition(TRANSACTION_ADVISOR)) {
        RootBeanDefinition definition = new RootBeanDefinition(LockedAdvisor.class);
        definition.setFactoryMethodName("inside");
        definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
        registry.registerBeanDefinition(TRANSACTION_ADVISOR, definition);
      }
    };
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedStartupCheck mortiseLockedStartupCheck(
      ConfigurableListableBeanFactory beans, LockedMethods methods) {
    return new LockedStartupCheck(beans, methods);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static ClientsCloseLast mortiseClientsCloseLast(
      ApplicationContext context, ConfigurableListableBeanFactory beans) {
    return new ClientsCloseLast(context, beans);
  }

  /** Ensures a proxy creator; an existing one stays. */
  static final class ProxyCreatorRegistrar implements ImportBeanDefinitionRegistrar {
    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importing, BeanDefinitionRegistry registry) {
      AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
      Map<String, Object> enabled =
          importing.getAnnotationAttributes(EnableMortise.class.getName(), false);
      if (enabled != null && Boolean.TRUE.equals(enabled.get("proxyTargetClass"))) {
        AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
      }
    }
  }

  /**
   * Has all beans that may still run a locked method destroyed before the clients of this context.
   * Spring knows the beans that use a client, and destroys them first. It does not know that an
   * executor runs their methods, and waits for running tasks only when it destroys the executor.
   *
   * <p>Registered when the context begins to close: lazy beans exist by then, and the actuator does
   * not show these dependencies. First of the listeners, since a listener that fails ends the rest.
   */
  static final class ClientsCloseLast
      implements ApplicationListener<ContextClosedEvent>, PriorityOrdered {
    private final ApplicationContext context;
    private final ConfigurableListableBeanFactory beans;

    ClientsCloseLast(ApplicationContext context, ConfigurableListableBeanFactory beans) {
      this.context = context;
      this.beans = beans;
    }

    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
      // Events of child contexts come here, too.
      if (event.getApplicationContext() != context) {
        return;
      }
      List<String> clients =
          Stream.of(beans.getBeanNamesForType(LockClient.class, false, false))
              .filter(beans::containsSingleton)
              .toList();
      Set<String> needed = reachable(clients, beans::getDependenciesForBean);
      List<String> singletons = new ArrayList<>(List.of(beans.getSingletonNames()));
      // In the order in which Spring destroys: the latest first.
      Collections.reverse(singletons);
      Set<String> users = reachable(clients, beans::getDependentBeans);
      singletons.stream().filter(this::isExecutor).forEach(users::add);
      Set<String> working = reachable(users, this::helpers);
      for (String name : singletons) {
        if (!needed.contains(name) && (working.contains(name) || isLifecycle(name))) {
          clients.forEach(client -> beans.registerDependentBean(client, name));
        }
      }
    }

    private boolean isExecutor(String name) {
      return beans.isTypeMatch(name, Executor.class)
          || beans.isTypeMatch(name, TaskScheduler.class);
    }

    /** For example message containers, and factories of executors. */
    private boolean isLifecycle(String name) {
      return beans.getSingleton(name) instanceof Lifecycle;
    }

    /**
     * The collaborators of a bean, to which it may hand tasks. Excludes the configuration class
     * that makes it: all other beans of that class would be destroyed with it, a server for tests
     * among them. Excludes data sources: a client may keep its locks there, and before Framework 7
     * Spring does not know of one obtained through an {@code ObjectProvider}. Objects that are not
     * beans are listed too, such as a factory.
     */
    private String[] helpers(String name) {
      String maker =
          beans.containsBeanDefinition(name)
              ? beans.getBeanDefinition(name).getFactoryBeanName()
              : null;
      return Arrays.stream(beans.getDependenciesForBean(name))
          .filter(each -> !Objects.equals(each, maker))
          .filter(each -> beans.containsBean(each) && !beans.isTypeMatch(each, DataSource.class))
          .toArray(String[]::new);
    }

    private static Set<String> reachable(
        Collection<String> from, Function<String, String[]> neighbours) {
      Set<String> found = new HashSet<>(from);
      Deque<String> open = new ArrayDeque<>(from);
      while (!open.isEmpty()) {
        for (String next : neighbours.apply(open.remove())) {
          if (found.add(next)) {
            open.add(next);
          }
        }
      }
      return found;
    }
  }
}
